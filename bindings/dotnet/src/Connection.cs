namespace Selene
{
    /// <summary>How to reach the process that has a store open.</summary>
    public sealed class Connection
    {
        /// <summary>The store, or the socket on which it is served.</summary>
        public string Path { get; set; }

        /// <summary>How long a call waits for an owner while none serves the store: not at all.</summary>
        public Duration? Wait { get; set; }

        /// <summary>How long a call waits for an answer: 30 s.</summary>
        public Duration? Timeout { get; set; }

        /// <summary>Those whose handlers are the same, any of which runs its tasks; null: the name of the executable.</summary>
        public string Pool { get; set; }

        internal unsafe ulong Open()
        {
            using (var lent = new Lent())
            {
                var raw = new Raw.ConnectOptions { struct_size = (uint)sizeof(Raw.ConnectOptions) };
                raw.path = lent.Text(Path ?? "", "path");
                raw.pool = lent.Text(Pool ?? "", "pool");
                raw.wait = Wait?.Nanoseconds ?? 0;
                raw.timeout = Timeout?.Said ?? 0;
                ulong handle;
                SeleneException.Check(Raw.selene_scheduler_connect(&raw, &handle));
                return handle;
            }
        }
    }
}
