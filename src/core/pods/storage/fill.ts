/** Reads from a file into memory of the caller. */
import type { FileHandle } from 'node:fs/promises';

/** Reads from `position` on until the memory is full or the file ends. Returns the part of it that was filled. */
export async function fill(file: FileHandle, memory: Buffer, position: number, signal?: AbortSignal): Promise<Buffer> {
  let filled = 0;
  while (filled < memory.length) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(memory, filled, memory.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return memory.subarray(0, filled);
}
