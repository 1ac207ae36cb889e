package org.selene;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** A copy of a struct of the library; {@link Layout} has the offsets. What it points to is read while the library lends it. */
final class Struct {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final VarHandle DOUBLE = MethodHandles.byteArrayViewVarHandle(double[].class, ByteOrder.nativeOrder());

    private final byte[] bytes;
    private final int base;

    Struct(byte[] bytes, int base) {
        this.bytes = bytes;
        this.base = base;
    }

    static Struct at(long address, int size) {
        return new Struct(Native.read(address, size), 0);
    }

    static int getInt(byte[] bytes, int at) {
        return (int) INT.get(bytes, at);
    }

    static long getLong(byte[] bytes, int at) {
        return (long) LONG.get(bytes, at);
    }

    static double getDouble(byte[] bytes, int at) {
        return (double) DOUBLE.get(bytes, at);
    }

    /** One with all defaults. */
    static byte[] empty(int size) {
        byte[] bytes = new byte[size];
        put(bytes, 0, size);
        return bytes;
    }

    static void put(byte[] bytes, int at, int value) {
        INT.set(bytes, at, value);
    }

    static void put(byte[] bytes, int at, long value) {
        LONG.set(bytes, at, value);
    }

    int getInt(int offset) {
        return getInt(bytes, base + offset);
    }

    long getLong(int offset) {
        return getLong(bytes, base + offset);
    }

    double getDouble(int offset) {
        return getDouble(bytes, base + offset);
    }

    @Nullable Instant instant(int offset) {
        return Time.instant(getLong(offset));
    }

    Duration span(int offset) {
        return Duration.ofNanos(getLong(offset));
    }

    /** What a selene_text is. */
    byte[] bytes(int offset) {
        long length = getLong(offset + Layout.Text.LENGTH);
        return length == 0 ? new byte[0] : Native.read(getLong(offset), length);
    }

    /** What is not text, in a store that was damaged, is mended. */
    String text(int offset) {
        return new String(bytes(offset), StandardCharsets.UTF_8);
    }

    /** Elements of an array that a field points to. */
    <T> List<T> list(int pointer, long count, int size, Function<Struct, T> made) {
        if (count == 0) {
            return List.of();
        }
        byte[] whole = Native.read(getLong(pointer), count * size);
        List<T> list = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            list.add(made.apply(new Struct(whole, i * size)));
        }
        return List.copyOf(list);
    }

    List<String> texts(int pointer, long count) {
        return list(pointer, count, Layout.Text.SIZE, one -> one.text(0));
    }

    /** Of the texts that lie behind a struct, the one that begins so many bytes behind it. */
    static String behind(byte[] facts, int at, int length) {
        return new String(facts, at, length, StandardCharsets.UTF_8);
    }

    static byte[] slice(byte[] facts, int at, int length) {
        return Arrays.copyOfRange(facts, at, at + length);
    }
}
