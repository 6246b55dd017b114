/** Shows the beginning of a stream of bytes without consuming it. Pure: no I/O, no clock. */

export interface Peeked {
  /** At least the requested number of bytes, or all that there are. */
  head: Buffer;
  /** All bytes, from the first. Callers must read or return it: the source stays open until then. */
  whole: AsyncGenerator<Buffer>;
}

export async function peek(source: AsyncIterable<Buffer>, bytes: number): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let length = 0;
  let isOver = false;
  while (length < bytes && !isOver) {
    const { value, done } = await iterator.next();
    if (done) isOver = true;
    else {
      chunks.push(value);
      length += value.length;
    }
  }
  const whole = async function* () {
    try {
      yield* chunks;
      while (!isOver) {
        const { value, done } = await iterator.next();
        if (done) isOver = true;
        else yield value;
      }
    } finally {
      if (!isOver) await iterator.return?.();
    }
  };
  return { head: Buffer.concat(chunks), whole: whole() };
}
