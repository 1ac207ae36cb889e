using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Selene
{
    /// <summary>Memory that a call is lent, until this is disposed of; and copies of what the library lends.</summary>
    internal sealed unsafe class Lent : IDisposable
    {
        /// <summary>Half of a surrogate pair is refused, not replaced.</summary>
        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);

        private readonly List<IntPtr> all = new List<IntPtr>();

        public void Dispose()
        {
            foreach (IntPtr one in all)
            {
                Marshal.FreeHGlobal(one);
            }
        }

        private byte* Room(int size)
        {
            IntPtr room = Marshal.AllocHGlobal(Math.Max(1, size));
            all.Add(room);
            return (byte*)room;
        }

        internal byte* Bytes(byte[] bytes)
        {
            byte* room = Room(bytes.Length);
            Marshal.Copy(bytes, 0, (IntPtr)room, bytes.Length);
            return room;
        }

        /// <summary>A text that may not be null.</summary>
        internal Raw.Text Text(string text, string name)
        {
            if (text == null)
            {
                throw new ArgumentNullException(name);
            }
            byte[] bytes;
            try
            {
                bytes = Strict.GetBytes(text);
            }
            catch (EncoderFallbackException)
            {
                throw new SeleneException(
                    Status.InvalidArgument, name + ": has half of a surrogate pair", name, "", "text that UTF-8 can say");
            }
            return new Raw.Text { data = Bytes(bytes), length = bytes.Length };
        }

        /// <summary>None at all is not NULL.</summary>
        internal Raw.Text* Texts(ICollection<string> texts, string name)
        {
            var room = (Raw.Text*)Room(texts.Count * sizeof(Raw.Text));
            int index = 0;
            foreach (string one in texts)
            {
                room[index++] = Text(one, name);
            }
            return room;
        }

        /// <summary>A copy; what a damaged store may have made of it is mended.</summary>
        internal static string String(Raw.Text text)
        {
            return String(text.data, text.length);
        }

        internal static string String(byte* data, long length)
        {
            return length == 0 ? "" : Encoding.UTF8.GetString(data, checked((int)length));
        }

        internal static string String(byte* terminated)
        {
            int length = 0;
            while (terminated[length] != 0)
            {
                length++;
            }
            return String(terminated, length);
        }

        internal static byte[] Array(Raw.Text text)
        {
            var bytes = new byte[text.length];
            if (text.length != 0)
            {
                Marshal.Copy((IntPtr)text.data, bytes, 0, bytes.Length);
            }
            return bytes;
        }

        internal static IReadOnlyList<string> Strings(Raw.Text* first, ulong count)
        {
            var made = new string[count];
            for (int i = 0; i < made.Length; i++)
            {
                made[i] = String(first[i]);
            }
            return made;
        }
    }
}
