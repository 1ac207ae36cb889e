package org.selene;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;

/**
 * Memory that a call of the library is lent: the thread's own, taken as from a stack, so that it costs no allocation; what
 * does not fit has its own.
 */
final class Lent implements AutoCloseable {
    private static final int SIZE = 16 * 1024;
    private static final byte[] ZEROS = new byte[1024];
    private static final ThreadLocal<Stack> STACK = ThreadLocal.withInitial(Stack::new);

    private static final class Stack {
        final ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE).order(ByteOrder.nativeOrder());
        final long address = Native.address(buffer);
        int used;
    }

    /** Some of it. */
    static final class Block {
        private final ByteBuffer buffer;
        private final int at;
        final long address;
        final int size;

        private Block(ByteBuffer buffer, int at, long address, int size) {
            this.buffer = buffer;
            this.at = at;
            this.address = address;
            this.size = size;
        }

        int getInt(int offset) {
            return buffer.getInt(at + offset);
        }

        long getLong(int offset) {
            return buffer.getLong(at + offset);
        }

        byte[] getBytes() {
            byte[] bytes = new byte[size];
            buffer.get(at, bytes);
            return bytes;
        }

        Block put(int offset, int value) {
            buffer.putInt(at + offset, value);
            return this;
        }

        Block put(int offset, long value) {
            buffer.putLong(at + offset, value);
            return this;
        }

        Block put(int offset, byte[] bytes) {
            buffer.put(at + offset, bytes);
            return this;
        }

        /** A selene_text. */
        Block put(int offset, Block text) {
            return put(offset, text.address).put(offset + Layout.Text.LENGTH, (long) text.size);
        }
    }

    private final Stack stack = STACK.get();
    private final int mark = stack.used;

    /** A struct with all defaults. */
    Block struct(int size) {
        return room(size).put(0, size);
    }

    /** Room of zeros. */
    Block room(int size) {
        int at = stack.used;
        if (size > SIZE - at) {
            ByteBuffer own = ByteBuffer.allocateDirect(Math.max(size, 1)).order(ByteOrder.nativeOrder());
            keep = new Own(own, keep);
            return new Block(own, 0, Native.address(own), size);
        }
        stack.used = at + (size + 7 & ~7);
        for (int done = 0; done < size; done += ZEROS.length) {
            stack.buffer.put(at + done, ZEROS, 0, Math.min(ZEROS.length, size - done));
        }
        return new Block(stack.buffer, at, stack.address + at, size);
    }

    /** What is alive until this is closed. */
    private record Own(ByteBuffer buffer, @Nullable Own next) {}

    private @Nullable Own keep;

    Block bytes(byte[] bytes) {
        // Never of none: its address would be that of what comes next, which nobody minds.
        return room(bytes.length).put(0, bytes);
    }

    /** A text that goes in; what is not one is refused. */
    Block text(String text) {
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (Character.isSurrogate(one)) {
                if (Character.isLowSurrogate(one) || i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    throw new SeleneException(Status.INVALID_ARGUMENT, "text: half of a surrogate pair is not UTF-8", "text", "", "");
                }
                i++;
            }
        }
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    /** An array of selene_text. */
    Block texts(Collection<String> texts) {
        Block list = room(Math.max(1, texts.size()) * Layout.Text.SIZE);
        int at = 0;
        for (String text : texts) {
            list.put(at, text(text));
            at += Layout.Text.SIZE;
        }
        return list;
    }

    @Override
    public void close() {
        stack.used = mark;
        java.lang.ref.Reference.reachabilityFence(keep);
    }
}
