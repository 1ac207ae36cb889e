using System.Collections.Generic;

namespace Selene
{
    /// <summary>Whether a kind of work deserves a window now, and why.</summary>
    public sealed unsafe class Decision
    {
        internal Decision(Raw.Decision* raw)
        {
            IsGranted = raw->granted != 0;
            At = new Instant(raw->at);
            LongestWindow = raw->longest_window == Raw.NEVER ? (Duration?)null : Duration.FromNanoseconds(raw->longest_window);
            AskAgainAt = Instant.Maybe(raw->ask_again_at);
            var findings = new Finding[raw->finding_count];
            for (int i = 0; i < findings.Length; i++)
            {
                findings[i] = new Finding(raw->findings[i]);
            }
            Findings = findings;
        }

        /// <summary>Whether it does.</summary>
        public bool IsGranted { get; }

        /// <summary>When that was decided.</summary>
        public Instant At { get; }

        /// <summary>What budgets leave room for; null: any.</summary>
        public Duration? LongestWindow { get; }

        /// <summary>When asking again is worth it, unless a signal changes before; null: only then.</summary>
        public Instant? AskAgainAt { get; }

        /// <summary>What became of every factor that the profile asks for.</summary>
        public IReadOnlyList<Finding> Findings { get; }
    }

    /// <summary>What became of a factor, in its unit.</summary>
    public readonly struct Finding
    {
        internal Finding(Raw.Finding raw)
        {
            Factor = (Factor)raw.factor;
            Refuses = raw.verdict == Raw.VERDICT_VETOED;
            Observed = raw.observed;
            Required = raw.required;
            ClearsAt = Instant.Maybe(raw.clears_at);
        }

        /// <summary>Which.</summary>
        public Factor Factor { get; }

        /// <summary>Whether it alone refuses.</summary>
        public bool Refuses { get; }

        /// <summary>What was found.</summary>
        public long Observed { get; }

        /// <summary>What is asked for.</summary>
        public long Required { get; }

        /// <summary>When it can be better; null: when a signal changes.</summary>
        public Instant? ClearsAt { get; }
    }
}
