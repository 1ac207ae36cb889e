package org.selene;

/**
 * A group of tasks.
 *
 * @param limit of runs at a time; 0: none
 * @param isPaused whether nothing of it begins
 * @param running runs that are not over, or have not come back
 * @param waiting tasks that wait
 */
public record GroupInfo(int limit, boolean isPaused, long running, long waiting) {}
