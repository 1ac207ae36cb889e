package org.selene;

/**
 * What became of one of many tasks ({@link Scheduler#registerAll}).
 *
 * @param refused why it was refused; null: it was not
 * @param disposition what its registration did; null: it was refused
 */
public record Registered(@Nullable Status refused, @Nullable Disposition disposition) {}
