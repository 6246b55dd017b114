/** Reads the body of a small answer whole. */

/** Returns the text, decoded once all of it is here: a character may be in two chunks. Throws when it has more than `maxBytes`. */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) throw new Error(`The body has more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
