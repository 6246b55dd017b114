/** Helps the tests of what plays renditions: cuts a rendition into chunks, and publishes them one by one. */
import { createHash } from 'node:crypto';
import {
  compositionTimeMs,
  type FlvTag,
  isAacSequenceHeader,
  isAudioFrame,
  isAvcSequenceHeader,
  isKeyframe,
  isVideoFrame,
  parseFlv,
} from '../../../src/core/pods/rendition/flv.ts';
import { parseChunkKey } from '../../../src/core/pods/rendition/format.ts';
import {
  type Chunk,
  type ChunkEntry,
  chunkKey,
  entryKey,
  INDEX_VERSION,
  indexKey,
  type RenditionIndex,
} from '../../../src/core/pods/rendition/index.ts';
import type { Storage } from '../../../src/core/pods/storage/storage.ts';

export interface CutRendition {
  index: RenditionIndex;
  entries: ChunkEntry[];
  /** Bytes of each chunk. */
  bodies: Buffer[];
}

export interface CutOptions {
  fps: number;
  /** A chunk ends in front of the first keyframe (or AAC frame of sound alone) after this many frames. */
  frames: number;
  /** Frames that the entries expect; those of the file by default. */
  expectedFrames?: number;
}

/** Cuts a whole FLV file as the prepare Job would. */
export function cutRendition(data: Buffer, { fps, frames, expectedFrames }: CutOptions): CutRendition {
  const tags = parseFlv(data);
  const hasVideo = tags.some(isVideoFrame);
  const isFrame = hasVideo ? isVideoFrame : isAudioFrame;
  const starts: { offset: number; firstFrame: number }[] = [{ offset: 0, firstFrame: 0 }];
  let count = 0;
  for (const tag of tags) {
    if (!isFrame(tag)) continue;
    const { firstFrame } = starts.at(-1) ?? { firstFrame: 0 };
    if (count - firstFrame >= frames && (!hasVideo || isKeyframe(tag)))
      starts.push({ offset: tag.offset, firstFrame: count });
    count++;
  }
  const bodies = starts.map(({ offset }, at) => data.subarray(offset, starts[at + 1]?.offset));
  const chunks = starts.map(({ offset, firstFrame }, at): Chunk => {
    const body = bodies[at] as Buffer;
    return {
      firstFrame,
      frames: (starts[at + 1]?.firstFrame ?? count) - firstFrame,
      sizeBytes: body.length,
      sha256: createHash('sha256').update(body).digest('hex'),
      ...(hasVideo && { video: describePictures(tags, offset, offset + body.length, firstFrame, fps) }),
      audio: { header: header(tags, isAacSequenceHeader) },
    };
  });
  const audioFrames = tags.filter(isAudioFrame).length;
  const rate = { frameRateNum: fps, frameRateDen: 1 };
  const about = { version: INDEX_VERSION, profile: `720p${fps}` } as const;
  const durationSeconds = hasVideo ? count / fps : (audioFrames * 1024) / 48_000;
  return {
    bodies,
    entries: chunks.map((chunk) => ({
      ...about,
      expectedFrames: expectedFrames ?? count,
      ...(hasVideo && { video: rate }),
      chunk,
    })),
    index: {
      ...about,
      sizeBytes: data.length,
      durationSeconds,
      bitrateKbps: (data.length * 0.008) / durationSeconds,
      ...(hasVideo && { video: { ...rate, frames: count } }),
      audio: { frames: audioFrames },
      chunks,
    },
  };
}

const header = (tags: readonly FlvTag[], is: (tag: FlvTag) => boolean) => tags.find(is)?.body.toString('base64') ?? '';

function describePictures(tags: readonly FlvTag[], from: number, to: number, firstFrame: number, fps: number) {
  const pictures = tags.filter((tag) => isVideoFrame(tag) && tag.offset >= from && tag.offset < to);
  const [first] = pictures;
  return {
    header: header(tags, isAvcSequenceHeader),
    delayFrames: first ? Math.round((compositionTimeMs(first) * fps) / 1000) : 0,
    keyframes: pictures.flatMap((tag, at) =>
      isKeyframe(tag) ? [{ frame: firstFrame + at, offset: tag.offset - from }] : [],
    ),
  };
}

/** Returns the keys of the chunks of a rendition that are there, those that begin with this frame, whatever their content. */
export async function findChunkKeys(storage: Storage, key: string, firstFrame: number): Promise<string[]> {
  const found: string[] = [];
  for await (const name of storage.list(`${key}.`)) {
    const chunk = parseChunkKey(name);
    if (chunk?.renditionKey === key && chunk.firstFrame === firstFrame && !chunk.isEntry) found.push(name);
  }
  return found;
}

/** Writes chunk `at` and its entry. */
export async function publishChunk(storage: Storage, key: string, cut: CutRendition, at: number): Promise<void> {
  const entry = cut.entries[at] as ChunkEntry;
  await storage.write(chunkKey(key, entry.chunk), cut.bodies[at] as Buffer);
  await storage.write(entryKey(key, entry.chunk.firstFrame), Buffer.from(JSON.stringify(entry)));
}

/** Writes the index: the rendition is complete. */
export const publishIndex = (storage: Storage, key: string, { index }: CutRendition): Promise<void> =>
  storage.write(indexKey(key), Buffer.from(JSON.stringify(index)));
