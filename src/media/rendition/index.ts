/**
 * Defines the rendition format, shared by the Job that makes one and the pod that plays it: an FLV file (H.264 up to High +
 * AAC-LC 48 kHz stereo) and beside it this index, as JSON, under the same key plus `.json`. The index is written last, so a
 * rendition with a readable index is complete.
 *
 * Frame i is decoded at i / framerate. Its composition time shows it a whole number of frames later: every slot of the frame
 * rate is filled once, GOPs are closed and at most MAX_GOP_SECONDS long. The first frame's composition time is the delay of
 * reordering (B-frames); the audio begins that much later in the file.
 */
import { type Static, Type } from 'typebox';
import { UploadWarnings } from '../../resources/upload/warnings.ts';
import { INDEX_VERSION } from './format.ts';

export { AUDIO_SAMPLE_RATE, INDEX_VERSION, indexKey, SAMPLES_PER_FRAME } from './format.ts';

export const RenditionIndex = Type.Object({
  version: Type.Literal(INDEX_VERSION),
  profile: Type.String(),
  /** Size of the FLV file in bytes and its SHA-256. */
  sizeBytes: Type.Integer({ minimum: 13 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  durationSeconds: Type.Number({ exclusiveMinimum: 0 }),
  bitrateKbps: Type.Number({ minimum: 0 }),
  /** Changes that the rendition makes to its source. */
  warnings: Type.Optional(UploadWarnings),
  video: Type.Optional(
    Type.Object({
      /** Frames per second as an exact fraction. */
      frameRateNum: Type.Integer({ minimum: 1 }),
      frameRateDen: Type.Integer({ minimum: 1 }),
      frames: Type.Integer({ minimum: 1 }),
      /** Body of the AVC sequence header tag (AVCDecoderConfigurationRecord with FLV's 5 leading bytes), base64. */
      header: Type.String(),
      /** One entry a GOP: number of its first frame, byte offset of that keyframe's tag in the file. */
      keyframes: Type.Array(
        Type.Object({ frame: Type.Integer({ minimum: 0 }), offset: Type.Integer({ minimum: 0 }) }),
        { minItems: 1 },
      ),
    }),
  ),
  audio: Type.Optional(
    Type.Object({
      /** AAC frames of SAMPLES_PER_FRAME samples at AUDIO_SAMPLE_RATE. */
      frames: Type.Integer({ minimum: 1 }),
      /** Body of the AAC sequence header tag (AudioSpecificConfig with FLV's 2 leading bytes), base64. */
      header: Type.String(),
    }),
  ),
});
export type RenditionIndex = Static<typeof RenditionIndex>;
