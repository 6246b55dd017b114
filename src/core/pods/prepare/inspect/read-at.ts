/** Reads a part of a file at its place. */
import type { FileHandle } from 'node:fs/promises';

/** Resolves with fewer bytes at the end of the file. Rejects with an error of the file. */
export async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
