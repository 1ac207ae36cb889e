using System;

namespace Selene
{
    /// <summary>What a handler returns: the outcome of its run.</summary>
    public sealed class Result
    {
        /// <summary>It found something new.</summary>
        public static readonly Result NewData = new Result(Outcome.NewData, "", null);

        /// <summary>It found nothing new.</summary>
        public static readonly Result NoData = new Result(Outcome.NoData, "", null);

        private Result(Outcome outcome, string why, Duration? retryAfter)
        {
            Outcome = outcome;
            Why = why;
            RetryAfter = retryAfter;
        }

        /// <summary>It failed, and is tried again after the backoff of its task.</summary>
        public static Result Failed(string why)
        {
            return new Result(Outcome.Failed, why ?? throw new ArgumentNullException(nameof(why)), null);
        }

        /// <summary>It failed, and is tried again after this time.</summary>
        public static Result Retry(Duration after, string why)
        {
            return new Result(Outcome.Failed, why ?? throw new ArgumentNullException(nameof(why)), after);
        }

        /// <summary>It failed, and is not tried again.</summary>
        public static Result Abandoned(string why)
        {
            return new Result(Outcome.Abandoned, why ?? throw new ArgumentNullException(nameof(why)), null);
        }

        /// <summary>How the run ended.</summary>
        public Outcome Outcome { get; }

        /// <summary>Of a failure, which is kept with the task.</summary>
        public string Why { get; }

        /// <summary>Until it is tried again; null: the backoff of its task.</summary>
        public Duration? RetryAfter { get; }
    }
}
