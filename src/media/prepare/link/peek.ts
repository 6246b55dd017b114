/** Looks at the beginning of a stream of bytes without taking it away. Pure: no I/O, no clock. */

export interface Peeked {
  /** At least as many bytes as were asked for, or all that there are. */
  head: Buffer;
  /** Everything, from the first byte. To be read, or returned from: the source stays open until then. */
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
