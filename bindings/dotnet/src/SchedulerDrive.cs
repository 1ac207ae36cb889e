using System;
using System.Threading;
using System.Threading.Tasks;

namespace Selene
{
    public sealed partial class Scheduler
    {
        /// <summary>A driver until it is cancelled, as a background service wants it; runs have the grace to return.</summary>
        public async Task DriveAsync(Driver driver, Duration grace, CancellationToken stop)
        {
            StartDriver(driver);
            try
            {
                await Task.Delay(Timeout.Infinite, stop).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                // That is how it ends.
            }
            await Task.Run(() => StopDriver(grace)).ConfigureAwait(false);
        }
    }
}
