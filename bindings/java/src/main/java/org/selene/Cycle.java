package org.selene;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.lang.ref.Reference;

/** A window whose runs are pulled: for loops of one's own, and for tests. */
public final class Cycle implements AutoCloseable {
    // The struct room of native/selene_java.c.
    private static final int STEP = 8;
    private static final int LENGTH = 12;
    private static final int INFO = 16;
    private static final int SIZE = INFO + Layout.RunInfo.SIZE + 1024;

    private final Scheduler scheduler;
    private final long handle;
    // Both guarded by this.
    private final ByteBuffer room = ByteBuffer.allocateDirect(SIZE).order(ByteOrder.nativeOrder());
    private final long address = Native.address(room);
    private volatile boolean hasEnded;

    Cycle(Scheduler scheduler, long handle) {
        this.scheduler = scheduler;
        this.handle = handle;
        room.putInt(INFO, Layout.RunInfo.SIZE);
    }

    /** The next run, if there is one now: {@code while (cycle.next() instanceof Run run) …}. Never waits. */
    public synchronized Step next() {
        // Texts of a run are lent until the scheduler is closed, which waits for those that copy them.
        scheduler.enter();
        try {
            Native.next(handle, address);
            switch (room.getInt(STEP)) {
                case Layout.STEP_RUN:
                    return new Run(scheduler, facts());
                case Layout.STEP_WAIT:
                    return new Step.Wait(Time.instant(room.getLong(0)));
                default:
                    return Step.Done.DONE;
            }
        } finally {
            scheduler.leave();
            Reference.reachabilityFence(room);
        }
    }

    private byte[] facts() {
        int length = room.getInt(LENGTH);
        if (length < 0) {
            return Native.facts(address);
        }
        byte[] facts = new byte[Layout.RunInfo.SIZE + length];
        room.get(INFO, facts);
        return facts;
    }

    /** Ends it; runs that are open are stopped. If the store refuses, it stays open and can be ended again. */
    public Report end() {
        Report report = Report.end(handle);
        hasEnded = true;
        return report;
    }

    /** Ends it, if that was not done. */
    @Override
    public void close() {
        if (hasEnded) {
            return;
        }
        try {
            Raw.selene_cycle_end(handle, 0);
            hasEnded = true;
        } catch (SeleneException e) {
            if (e.status() != Status.INVALID_HANDLE) {
                throw e;
            }
            // It ended by itself, or with its scheduler.
        }
    }
}
