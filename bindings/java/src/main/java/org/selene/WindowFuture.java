package org.selene;

import java.util.concurrent.CompletableFuture;

/** The report of a window on threads of the library. Cancelling it ends the window. */
final class WindowFuture extends CompletableFuture<Report> {
    /** Who waits for it is not called on a thread of the library, which may not wait, nor close the scheduler. */
    private final boolean isAwaited;
    /** 0: it has not begun, or was not told yet. */
    private volatile long cycle;
    private volatile boolean isReported;

    WindowFuture(boolean isAwaited) {
        this.isAwaited = isAwaited;
    }

    void begun(long handle) {
        cycle = handle;
    }

    void reported(Report report) {
        isReported = true;
        if (isAwaited) {
            complete(report);
        } else {
            completeAsync(() -> report);
        }
    }

    /** After the report, if there was one. */
    void released() {
        if (isReported) {
            return;
        }
        if (isAwaited) {
            completeExceptionally(unreported());
        } else {
            defaultExecutor().execute(() -> completeExceptionally(unreported()));
        }
    }

    private static SeleneException unreported() {
        return new SeleneException(Status.STORE_IO, "the window ended without a report: the store refused it", "", "", "");
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean isCancelled = super.cancel(mayInterruptIfRunning);
        long begun = cycle;
        if (isCancelled && begun != 0) {
            try {
                Raw.selene_cycle_end(begun, 0);
            } catch (SeleneException over) {
                // It ended meanwhile, or its scheduler did.
            }
        }
        return isCancelled;
    }
}
