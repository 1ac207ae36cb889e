package org.selene;

/**
 * A call that was refused, or failed; nothing has changed. A scheduler that was closed answers
 * {@link Status#INVALID_HANDLE}.
 */
public final class SeleneException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Status status;
    private final String field;
    private final String found;
    private final String allowed;

    SeleneException(Status status, String detail, String field, String found, String allowed) {
        super(detail);
        this.status = status;
        this.field = field;
        this.found = found;
        this.allowed = allowed;
    }

    static SeleneException closed() {
        return new SeleneException(Status.INVALID_HANDLE, "the scheduler is closed", "", "", "");
    }

    static SeleneException noSuch(String field, int number) {
        String detail = field + ": there is none with the number " + number;
        return new SeleneException(Status.INVALID_ARGUMENT, detail, field, Integer.toString(number), "");
    }

    /** Why. */
    public Status status() {
        return status;
    }

    /** The whole sentence, as {@link #getMessage()}. */
    public String detail() {
        return getMessage();
    }

    /** The parameter or field, by its name in the header; empty where the call as a whole is refused. */
    public String field() {
        return field;
    }

    /** What was found there; may be empty. */
    public String found() {
        return found;
    }

    /** What is allowed; may be empty. */
    public String allowed() {
        return allowed;
    }

    @Override
    public String toString() {
        return getClass().getName() + ": " + status + ": " + getMessage();
    }
}
