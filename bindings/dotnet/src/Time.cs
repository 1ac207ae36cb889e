// Instants and durations of the header: nanoseconds, of which TimeSpan and DateTimeOffset have every hundredth.
using System;

namespace Selene
{
    /// <summary>A time that something takes. A TimeSpan is one; as a TimeSpan it is rounded down to 100 ns.</summary>
    public readonly struct Duration : IEquatable<Duration>, IComparable<Duration>
    {
        /// <summary>None.</summary>
        public static readonly Duration Zero = default(Duration);

        /// <summary>In nanoseconds.</summary>
        public long Nanoseconds { get; }

        private Duration(long nanoseconds)
        {
            Nanoseconds = nanoseconds;
        }

        /// <summary>So many nanoseconds.</summary>
        public static Duration FromNanoseconds(long nanoseconds)
        {
            return new Duration(nanoseconds);
        }

        /// <summary>So many seconds.</summary>
        public static Duration FromSeconds(double seconds)
        {
            return TimeSpan.FromSeconds(seconds);
        }

        /// <summary>What is longer than the header can say is the longest.</summary>
        public static implicit operator Duration(TimeSpan span)
        {
            if (span.Ticks > long.MaxValue / 100)
            {
                return new Duration(long.MaxValue);
            }
            return new Duration(span.Ticks < long.MinValue / 100 ? long.MinValue : span.Ticks * 100);
        }

        /// <summary>Rounded down to 100 ns.</summary>
        public static explicit operator TimeSpan(Duration span)
        {
            return new TimeSpan(span.Nanoseconds / 100);
        }

        /// <summary>
        /// For a field whose 0 is a default: the header's word for a 0 that is said, which is refused where 0 is not allowed.
        /// </summary>
        internal long Said
        {
            get { return Nanoseconds == 0 ? Raw.NONE : NotNegative; }
        }

        /// <summary>-1 is the header's word for a default or none, which nobody says by mistake.</summary>
        internal long NotNegative
        {
            get { return Nanoseconds < 0 ? long.MinValue : Nanoseconds; }
        }

        /// <summary>Whether both take the same time.</summary>
        public static bool operator ==(Duration one, Duration other)
        {
            return one.Nanoseconds == other.Nanoseconds;
        }

        /// <summary>Whether they do not.</summary>
        public static bool operator !=(Duration one, Duration other)
        {
            return one.Nanoseconds != other.Nanoseconds;
        }

        /// <inheritdoc/>
        public bool Equals(Duration other)
        {
            return this == other;
        }

        /// <inheritdoc/>
        public override bool Equals(object other)
        {
            return other is Duration && this == (Duration)other;
        }

        /// <inheritdoc/>
        public override int GetHashCode()
        {
            return Nanoseconds.GetHashCode();
        }

        /// <inheritdoc/>
        public int CompareTo(Duration other)
        {
            return Nanoseconds.CompareTo(other.Nanoseconds);
        }

        /// <summary>As a TimeSpan says it.</summary>
        public override string ToString()
        {
            return ((TimeSpan)this).ToString();
        }
    }

    /// <summary>An instant of scheduler time. A DateTimeOffset is one; as a DateTimeOffset it is rounded to 100 ns.</summary>
    public readonly struct Instant : IEquatable<Instant>, IComparable<Instant>
    {
        private const long EpochTicks = 621355968000000000;

        /// <summary>Since the Unix epoch, in UTC.</summary>
        public long NanosecondsSinceEpoch { get; }

        /// <summary>So many nanoseconds since the Unix epoch.</summary>
        public Instant(long nanosecondsSinceEpoch)
        {
            NanosecondsSinceEpoch = nanosecondsSinceEpoch;
        }

        /// <summary>An instant that is never reached is null.</summary>
        internal static Instant? Maybe(long nanoseconds)
        {
            return nanoseconds == Raw.NEVER ? (Instant?)null : new Instant(nanoseconds);
        }

        /// <summary>What is later than the header can say is the latest.</summary>
        public static implicit operator Instant(DateTimeOffset at)
        {
            Duration span = new TimeSpan(at.UtcTicks - EpochTicks);
            return new Instant(span.Nanoseconds);
        }

        /// <summary>Rounded to 100 ns.</summary>
        public static explicit operator DateTimeOffset(Instant at)
        {
            return new DateTimeOffset(EpochTicks + at.NanosecondsSinceEpoch / 100, TimeSpan.Zero);
        }

        /// <summary>Later by a duration; what is later than can be said is the last that can.</summary>
        public static Instant operator +(Instant at, Duration span)
        {
            long sum = unchecked(at.NanosecondsSinceEpoch + span.Nanoseconds);
            if (span.Nanoseconds >= 0 ? sum < at.NanosecondsSinceEpoch : sum > at.NanosecondsSinceEpoch)
            {
                sum = span.Nanoseconds >= 0 ? long.MaxValue : long.MinValue;
            }
            return new Instant(sum);
        }

        /// <summary>From one to another.</summary>
        public static Duration operator -(Instant to, Instant from)
        {
            return Duration.FromNanoseconds(to.NanosecondsSinceEpoch - from.NanosecondsSinceEpoch);
        }

        /// <summary>Whether both are the same.</summary>
        public static bool operator ==(Instant one, Instant other)
        {
            return one.NanosecondsSinceEpoch == other.NanosecondsSinceEpoch;
        }

        /// <summary>Whether they are not.</summary>
        public static bool operator !=(Instant one, Instant other)
        {
            return one.NanosecondsSinceEpoch != other.NanosecondsSinceEpoch;
        }

        /// <inheritdoc/>
        public bool Equals(Instant other)
        {
            return this == other;
        }

        /// <inheritdoc/>
        public override bool Equals(object other)
        {
            return other is Instant && this == (Instant)other;
        }

        /// <inheritdoc/>
        public override int GetHashCode()
        {
            return NanosecondsSinceEpoch.GetHashCode();
        }

        /// <inheritdoc/>
        public int CompareTo(Instant other)
        {
            return NanosecondsSinceEpoch.CompareTo(other.NanosecondsSinceEpoch);
        }

        /// <summary>As a DateTimeOffset says it, with all digits.</summary>
        public override string ToString()
        {
            return ((DateTimeOffset)this).ToString("o");
        }
    }
}
