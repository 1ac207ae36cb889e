using System.Threading;
using System.Threading.Tasks;

namespace Selene
{
    public sealed partial class Scheduler
    {
        /// <summary>Completed by a close. Who awaits it continues on a thread of the pool, not within that call.</summary>
        private readonly TaskCompletionSource<bool> closed =
            new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>
        /// A driver until it is cancelled, as a background service wants it; runs have the grace to return. It ends without an
        /// error, too, when the scheduler is closed; then runs have the grace of the close.
        /// </summary>
        public async Task DriveAsync(Driver driver, Duration grace, CancellationToken stop)
        {
            StartDriver(driver);
            using (var over = CancellationTokenSource.CreateLinkedTokenSource(stop))
            {
                await Task.WhenAny(closed.Task, Task.Delay(Timeout.Infinite, over.Token)).ConfigureAwait(false);
            }
            await Task.Run(() => StopUnlessClosed(grace)).ConfigureAwait(false);
        }

        private void StopUnlessClosed(Duration grace)
        {
            try
            {
                StopDriver(grace);
            }
            catch (SeleneException refused) when (refused.Status == Status.InvalidHandle)
            {
                // The close has stopped the driver.
            }
        }
    }
}
