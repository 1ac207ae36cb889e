using System;

namespace Selene
{
    /// <summary>A call that was refused, or failed; nothing has changed.</summary>
    public sealed class SeleneException : Exception
    {
        /// <summary>Why.</summary>
        public Status Status { get; }

        /// <summary>The whole sentence.</summary>
        public string Detail { get; }

        /// <summary>The parameter or field, by its name in the header; empty: the call as a whole is refused.</summary>
        public string Field { get; }

        /// <summary>What was found there; may be empty.</summary>
        public string Found { get; }

        /// <summary>What is allowed there; may be empty.</summary>
        public string Allowed { get; }

        internal SeleneException(Status status, string detail, string field = "", string found = "", string allowed = "")
            : base(status + ": " + detail)
        {
            Status = status;
            Detail = detail;
            Field = field;
            Found = found;
            Allowed = allowed;
        }

        internal static SeleneException Closed()
        {
            return new SeleneException(Status.InvalidHandle, "the scheduler is closed");
        }

        /// <summary>Throws what the last call, on this thread, was refused for.</summary>
        internal static void Check(int status)
        {
            if (status != Raw.OK)
            {
                throw Refused(status);
            }
        }

        private static unsafe SeleneException Refused(int status)
        {
            Raw.Error* error = Raw.selene_error_last();
            string field = Lent.String(error->field), found = Lent.String(error->found);
            string allowed = Lent.String(error->allowed);
            return new SeleneException((Status)status, Lent.String(error->message), field, found, allowed);
        }
    }
}
