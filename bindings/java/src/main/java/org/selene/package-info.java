/**
 * Background work that a program embeds: it registers tasks and handlers once; whenever it has a moment it opens a
 * {@link org.selene.Window}, or it lets a {@link org.selene.Driver} open them, and Selene decides which tasks run, runs them
 * on threads of its own, ends on time and says why the others wait.
 *
 * <p>{@link org.selene.Scheduler} is where to begin. The package stands on the C library, which is in its jar; selene.h is the
 * manual of what each call does. Nothing is null, or may be, unless {@link org.selene.Nullable} says so.
 */
package org.selene;
