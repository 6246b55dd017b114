/** Takes one picture out of a stranger's file. */
import { type MediaTool, startTool, ToolError } from './tool.ts';

interface TakenPicture {
  bytes: Buffer;
  /** The tail of what the tool wrote to stderr. */
  said: string;
}

interface TakeOptions {
  signal: AbortSignal;
  /** No picture that is wanted is larger. */
  maxBytes: number;
}

/**
 * Resolves with the picture that the tool writes to stdout; undefined where there is none that can be decoded, or only one that is too
 * large. Rejects with the signal's reason, or with ToolError where the tool did not run.
 */
export async function takePicture(
  tool: MediaTool,
  args: string[],
  { signal, maxBytes }: TakeOptions,
): Promise<TakenPicture | undefined> {
  try {
    const { stdout, done } = startTool(tool, args, signal, { isBackground: true });
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of stdout as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size <= maxBytes) pieces.push(piece);
    }
    const said = await done;
    return size === 0 || size > maxBytes ? undefined : { bytes: Buffer.concat(pieces), said };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError && !error.killed) return undefined;
    throw error;
  }
}
