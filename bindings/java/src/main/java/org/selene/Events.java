package org.selene;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** The events of a scheduler, from a moment on, in a queue. Any thread may read them. */
public final class Events implements AutoCloseable {
    private final Scheduler scheduler;
    private final int capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock, under which nobody calls the library.
    private final ArrayDeque<Event> queue = new ArrayDeque<>();
    private long lost;
    private boolean isOver;

    Events(Scheduler scheduler, int capacity) {
        this.scheduler = scheduler;
        this.capacity = capacity;
    }

    /** Called by the library, for one event at a time. */
    void told(byte[] facts) {
        lock.lock();
        try {
            if (queue.size() >= capacity) {
                lost++;
                return;
            }
            queue.add(Event.of(facts, lost));
            lost = 0;
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Called by the library, after the last one. */
    void end() {
        lock.lock();
        try {
            isOver = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The next one, if one waits; else null. */
    public @Nullable Event poll() {
        lock.lock();
        try {
            return queue.poll();
        } finally {
            lock.unlock();
        }
    }

    /** The next one, if there is one by the end of the timeout; else null. */
    public @Nullable Event poll(Duration timeout) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = Time.nanoseconds(timeout);
            while (queue.isEmpty() && !isOver && left > 0) {
                left = changed.awaitNanos(left);
            }
            return queue.poll();
        } finally {
            lock.unlock();
        }
    }

    /** The next one, for which it waits; null: the events or the scheduler were closed, and all are read. */
    public @Nullable Event take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (queue.isEmpty() && !isOver) {
                changed.await();
            }
            return queue.poll();
        } finally {
            lock.unlock();
        }
    }

    /** Gives each to a consumer, on this thread, until the events or the scheduler are closed. */
    public void forEach(Consumer<? super Event> consumer) throws InterruptedException {
        Objects.requireNonNull(consumer, "consumer");
        for (Event event = take(); event != null; event = take()) {
            consumer.accept(event);
        }
    }

    /** No more are told; what waits can be read. */
    @Override
    public void close() {
        scheduler.unobserve(this);
    }
}
