using System;
using System.Text;
using System.Threading;

namespace Selene
{
    /// <summary>
    /// One dispatch of one task. Its facts are copies: it may outlive its window and its scheduler. The outcome of one that
    /// was pulled is given by Complete, that of others by what their handler returns.
    /// </summary>
    public sealed unsafe class Run
    {
        private static readonly byte[] Empty = { };

        private readonly Scheduler scheduler;
        private readonly Raw.RunInfo facts;
        /// <summary>The bytes of id, handler and input.</summary>
        private readonly byte[] texts;
        private string id;

        /// <summary>That of all that were over before anybody asked for their token.</summary>
        private static readonly CancellationTokenSource Unasked = new CancellationTokenSource();

        /// <summary>null until somebody asks for its token, or it is over; set once.</summary>
        private CancellationTokenSource source;
        /// <summary>Of one whose token was asked for; guarded by the lock of the texts.</summary>
        private bool isOver;

        internal Run(Scheduler scheduler, Raw.RunInfo* info)
        {
            this.scheduler = scheduler;
            facts = *info;
            long first = info->id.length, second = info->handler.length, third = info->input.length;
            texts = new byte[first + second + third];
            fixed (byte* room = texts)
            {
                Buffer.MemoryCopy(info->id.data, room, first, first);
                Buffer.MemoryCopy(info->handler.data, room + first, second, second);
                if (third != 0)
                {
                    Buffer.MemoryCopy(info->input.data, room + first + second, third, third);
                }
            }
        }

        /// <summary>The number by which the header knows it.</summary>
        public ulong Token
        {
            get { return facts.run; }
        }

        /// <summary>Of its task.</summary>
        public string Id
        {
            get { return id ?? (id = Encoding.UTF8.GetString(texts, 0, (int)facts.id.length)); }
        }

        /// <summary>The name of its handler.</summary>
        public string Handler
        {
            get { return Encoding.UTF8.GetString(texts, (int)facts.id.length, (int)facts.handler.length); }
        }

        /// <summary>A copy of what the task carries for it.</summary>
        public byte[] Input
        {
            get
            {
                if (facts.input.length == 0)
                {
                    return Empty;
                }
                var input = new byte[facts.input.length];
                Buffer.BlockCopy(texts, (int)(facts.id.length + facts.handler.length), input, 0, input.Length);
                return input;
            }
        }

        /// <summary>Of its task.</summary>
        public Kind Kind
        {
            get { return (Kind)facts.kind; }
        }

        /// <summary>Of its task.</summary>
        public Priority Priority
        {
            get { return (Priority)facts.priority; }
        }

        /// <summary>1 for the first.</summary>
        public uint Attempt
        {
            get { return facts.attempt; }
        }

        /// <summary>By which it was picked.</summary>
        public double Score
        {
            get { return facts.score; }
        }

        /// <summary>How long it is expected to take.</summary>
        public Duration Estimate
        {
            get { return Duration.FromNanoseconds(facts.estimate); }
        }

        /// <summary>When it was dispatched.</summary>
        public Instant StartedAt
        {
            get { return new Instant(facts.started_at); }
        }

        /// <summary>When it is asked to stop at the latest.</summary>
        public Instant ExpiresAt
        {
            get { return new Instant(facts.expires_at); }
        }

        /// <summary>When it is over at the latest.</summary>
        public Instant Deadline
        {
            get { return new Instant(facts.deadline); }
        }

        /// <summary>Why it should stop; None: go on; Shutdown for one that is over. Cheap enough for a loop.</summary>
        public StopReason StopReason
        {
            get
            {
                int reason;
                return Raw.selene_run_stopping(Token, &reason) == Raw.OK ? (StopReason)reason : StopReason.Shutdown;
            }
        }

        /// <summary>
        /// Waits until so much scheduler time has passed, or until it should stop; what <see cref="StopReason"/> says then. On
        /// the clock of a test that is when the test has moved it so far.
        /// </summary>
        public StopReason Sleep(Duration duration)
        {
            int reason;
            return Raw.selene_run_sleep(Token, duration.Nanoseconds, &reason) == Raw.OK
                ? (StopReason)reason
                : StopReason.Shutdown;
        }

        /// <summary>How long until it is asked to stop; zero if it was, or is over.</summary>
        public Duration Remaining
        {
            get
            {
                long left;
                return Raw.selene_run_remaining(Token, &left) == Raw.OK ? Duration.FromNanoseconds(left) : Duration.Zero;
            }
        }

        /// <summary>
        /// Cancelled when it is asked to stop; what is registered with it is called on whatever thread noticed, and waits for
        /// nothing.
        /// </summary>
        public CancellationToken Stopping
        {
            get
            {
                CancellationTokenSource found = Volatile.Read(ref source);
                if (found == null)
                {
                    var made = new CancellationTokenSource();
                    found = Interlocked.CompareExchange(ref source, made, null);
                    if (found == null)
                    {
                        Watch();
                        return made.Token;
                    }
                }
                return found.Token;
            }
        }

        /// <summary>Lets <see cref="Stop"/> be called, also where the library asked before anybody knew the run.</summary>
        private void Watch()
        {
            scheduler.Live[Token] = this;
            if (StopReason != StopReason.None)
            {
                Stop();
            }
            lock (texts)
            {
                if (!isOver)
                {
                    return;
                }
            }
            // Another thread gave the outcome meanwhile.
            scheduler.Forget(Token);
        }

        /// <summary>It is asked to stop.</summary>
        internal void Stop()
        {
            lock (texts)
            {
                if (isOver)
                {
                    return;
                }
            }
            try
            {
                source.Cancel();
            }
            catch (AggregateException)
            {
                // Of what was registered with the token; all of it was called.
            }
        }

        /// <summary>It is not worked on any more.</summary>
        internal void End()
        {
            if (Interlocked.CompareExchange(ref source, Unasked, null) == null)
            {
                return;
            }
            lock (texts)
            {
                isOver = true;
            }
            scheduler.Forget(Token);
        }

        /// <summary>Tells how far it has come, and lets its task's stall limit begin anew. total: 0: it is not known.</summary>
        public void Progress(long done, long total = 0, string text = "")
        {
            using (var lent = new Lent())
            {
                Raw.Text raw = lent.Text(text, nameof(text));
                SeleneException.Check(Raw.selene_run_progress(Token, done, total, raw.data, raw.length));
            }
        }

        /// <summary>
        /// Says what it leaves if it succeeds, for those who look at its task and for the handlers of those that come after it.
        /// The last call before the outcome counts.
        /// </summary>
        public void SetOutput(byte[] output)
        {
            if (output == null)
            {
                throw new ArgumentNullException(nameof(output));
            }
            fixed (byte* bytes = output.Length == 0 ? new byte[1] : output)
            {
                SeleneException.Check(Raw.selene_run_set_output(Token, bytes, output.Length));
            }
        }

        /// <summary>Gives the outcome of a run that was pulled, once, from any thread.</summary>
        public void Complete(Result result)
        {
            if (result == null)
            {
                throw new ArgumentNullException(nameof(result));
            }
            SeleneException.Check(Give(result));
            End();
        }

        /// <summary>Gives the outcome of a run that was pulled, once, from any thread.</summary>
        public void Complete(Outcome outcome)
        {
            SeleneException.Check(Raw.selene_run_complete(Token, (int)outcome));
            End();
        }

        private int Give(Result result)
        {
            if (result.Outcome == Outcome.NewData || result.Outcome == Outcome.NoData)
            {
                return Raw.selene_run_complete(Token, (int)result.Outcome);
            }
            // The library takes no text with a NUL in it; half of a surrogate pair is replaced.
            byte[] words = Encoding.UTF8.GetBytes(result.Why.Replace('\0', '\uFFFD') + '\0');
            fixed (byte* text = words)
            {
                long delay = result.RetryAfter?.NotNegative ?? -1;
                return Raw.selene_run_fail(Token, (int)result.Outcome, delay, text, words.Length - 1);
            }
        }

        /// <summary>Gives what a handler returned. What comes too late is no error here.</summary>
        internal void Finish(Result result)
        {
            End();
            int status = Give(result ?? Result.Failed("the handler returned null"));
            if (status == (int)Status.InvalidArgument)
            {
                string why = Lent.String(Raw.selene_error_last()->message);
                Give(Result.Failed("what the handler returned was refused: " + why));
            }
        }

        /// <summary>What is thrown, as a failure with its text.</summary>
        internal Result Failure(Exception thrown)
        {
            if (thrown is OperationCanceledException)
            {
                StopReason reason = StopReason;
                if (reason != StopReason.None)
                {
                    return Result.Failed("stopped: " + reason);
                }
            }
            string name = thrown.GetType().FullName;
            try
            {
                return Result.Failed(name + ": " + thrown.Message);
            }
            catch (Exception)
            {
                // The message is code of its own, which may throw, too.
                return Result.Failed(name);
            }
        }

        /// <summary>Its id and attempt.</summary>
        public override string ToString()
        {
            return Id + ", attempt " + Attempt;
        }
    }
}
