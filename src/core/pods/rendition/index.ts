/**
 * Defines the rendition format, shared by the Job that makes one and the pod that plays it: H.264 up to High and AAC-LC
 * 48 kHz stereo as one FLV file, cut into chunks in front of keyframes. The chunks, one behind the other, are the file.
 *
 * | key                  | object                                                          |
 * | -------------------- | --------------------------------------------------------------- |
 * | K.000000000.<hash>   | the chunk that begins with frame 0: the file's header and tags  |
 * | K.000000000.json     | its ChunkEntry, written after the chunk                         |
 * | K.000000900.<hash> … | the chunk that begins with frame 900, and so on                 |
 * | K.plan.json          | while Jobs encode it in parts: how they make one                |
 * | K.json               | the RenditionIndex, written last: the rendition is complete     |
 *
 * No chunk changes once it is written, so readers see one whole or not at all, and no cache or listing can be out of date
 * about one. Its key has the first digits of its SHA-256: two Jobs that make the same frames, which nothing can exclude
 * where a node is lost, write two objects, and each entry and index refers to the one that it describes. A chunk with an
 * entry can be played before the rendition is complete: the key of the next entry follows from the frames of this one.
 *
 * Frame i is decoded at i / framerate. Version 4 differs in the rate alone, which may be any: the own rate of a copied source. Its composition time shows it a whole number of frames later: every slot of the frame
 * rate is filled once, GOPs are closed and at most MAX_GOP_SECONDS long. The composition time of a chunk's first frame is its
 * delay of reordering (B-frames); the sound that is heard with a picture has the time at which the picture is shown.
 */
import { type Static, Type } from 'typebox';
import { parseAs } from '../../lib/parse.ts';
import { SoundLoudness } from '../../resources/upload/loudness.ts';
import { UploadWarnings } from '../../resources/upload/warnings.ts';
import { INDEX_VERSION, OWN_RATE_VERSION } from './format.ts';
import { isProfileRate } from './frame-times.ts';

export {
  AUDIO_SAMPLE_RATE,
  CHUNK_SECONDS,
  chunkKey,
  entryKey,
  INDEX_VERSION,
  indexKey,
  OWN_RATE_VERSION,
  planKey,
  RANGE_CHUNKS,
  SAMPLES_PER_FRAME,
} from './format.ts';

/** A rendition of version 2 differs in the keys of its chunks alone (chunkKey). */
const Version = Type.Union([Type.Literal(OWN_RATE_VERSION), Type.Literal(INDEX_VERSION), Type.Literal(2)]);
/** Returns the version in which a rendition of this frame rate is described; undefined for sound alone. */
export const chooseVersion = (framerate: number | undefined): typeof INDEX_VERSION | typeof OWN_RATE_VERSION =>
  framerate === undefined || isProfileRate(framerate) ? INDEX_VERSION : OWN_RATE_VERSION;

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Keyframes = Type.Array(
  Type.Object({ frame: Type.Integer({ minimum: 0 }), offset: Type.Integer({ minimum: 0 }) }),
  { minItems: 1 },
);

export const Chunk = Type.Object({
  /** Number of its first frame in the rendition, and of its frames: pictures, or AAC frames of sound alone. */
  firstFrame: Type.Integer({ minimum: 0 }),
  frames: Type.Integer({ minimum: 1 }),
  sizeBytes: Type.Integer({ minimum: 1 }),
  sha256: Sha256,
  /** How its pictures are read. Another chunk may have been made in another way: a part is copied, the rest encoded. */
  video: Type.Optional(
    Type.Object({
      /** Body of the AVC sequence header tag (AVCDecoderConfigurationRecord with FLV's 5 leading bytes), base64. */
      header: Type.String(),
      /** Frames between decoding and showing a picture. */
      delayFrames: Type.Integer({ minimum: 0 }),
      /**
       * One entry a GOP, but at most two a second: number of its first frame in the rendition, byte offset of that keyframe's tag
       * in the chunk.
       */
      keyframes: Keyframes,
    }),
  ),
  /** Body of the AAC sequence header tag (AudioSpecificConfig with FLV's 2 leading bytes), base64. */
  audio: Type.Object({ header: Type.String() }),
  /** Set where this part of the source could not be encoded: the chunk is black and silent. */
  standsIn: Type.Optional(Type.Literal(true)),
  /** Set where some of this part of the source could not be decoded: a frame is held, or silence is played, meanwhile. */
  isDamaged: Type.Optional(Type.Literal(true)),
});
export type Chunk = Static<typeof Chunk>;

/** Frames per second as an exact fraction. */
const frameRate = { frameRateNum: Type.Integer({ minimum: 1 }), frameRateDen: Type.Integer({ minimum: 1 }) };

/** Describes one chunk, and as much of its rendition as is needed to play it. */
export const ChunkEntry = Type.Object({
  version: Version,
  profile: Type.String(),
  /** Frames that the whole rendition is expected to have, by its source. */
  expectedFrames: Type.Integer({ minimum: 1 }),
  video: Type.Optional(Type.Object(frameRate)),
  chunk: Chunk,
});
export type ChunkEntry = Static<typeof ChunkEntry>;

export const RenditionIndex = Type.Object({
  version: Version,
  profile: Type.String(),
  /** Size of all chunks. */
  sizeBytes: Type.Integer({ minimum: 13 }),
  durationSeconds: Type.Number({ exclusiveMinimum: 0 }),
  bitrateKbps: Type.Number({ minimum: 0 }),
  /** Changes that the rendition makes to its source. */
  warnings: Type.Optional(UploadWarnings),
  video: Type.Optional(Type.Object({ ...frameRate, frames: Type.Integer({ minimum: 1 }) })),
  /** Set for a sound that was made for its loudness. */
  loudness: Type.Optional(SoundLoudness),
  /** AAC frames of SAMPLES_PER_FRAME samples at AUDIO_SAMPLE_RATE. */
  audio: Type.Object({ frames: Type.Integer({ minimum: 1 }) }),
  /** In the order of their frames, without a gap. */
  chunks: Type.Array(Chunk, { minItems: 1 }),
});
export type RenditionIndex = Static<typeof RenditionIndex>;

/** Describes a rendition that an earlier release made: the file is one object under the rendition's own key. */
export const RenditionIndexV1 = Type.Object({
  version: Type.Literal(1),
  profile: Type.String(),
  sizeBytes: Type.Integer({ minimum: 13 }),
  sha256: Sha256,
  durationSeconds: Type.Number({ exclusiveMinimum: 0 }),
  bitrateKbps: Type.Number({ minimum: 0 }),
  warnings: Type.Optional(UploadWarnings),
  video: Type.Optional(
    Type.Object({
      frameRateNum: Type.Integer({ minimum: 1 }),
      frameRateDen: Type.Integer({ minimum: 1 }),
      frames: Type.Integer({ minimum: 1 }),
      header: Type.String(),
      keyframes: Keyframes,
    }),
  ),
  audio: Type.Optional(Type.Object({ frames: Type.Integer({ minimum: 1 }), header: Type.String() })),
});
export type RenditionIndexV1 = Static<typeof RenditionIndexV1>;

/** Parses the index of a rendition, also of one that an earlier release made; undefined for anything else. */
export const parseIndex = (json: string): RenditionIndex | RenditionIndexV1 | undefined =>
  parseAs(RenditionIndex, json) ?? parseAs(RenditionIndexV1, json);
