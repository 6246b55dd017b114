/**
 * Lists the warnings of an upload: an import or a rendition changed something of the file, and the upload plays all the
 * same. One table of codes and sentences serves every API. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

/** Code → the sentence for people, and the way to a file that needs no warning. */
export const UPLOAD_WARNINGS = {
  still_picture: {
    meaning: 'The file is a still picture, and plays as a clip that loops.',
    fix: 'Do nothing if this is intended. To show the picture for longer or with audio, upload a video of it.',
  },
  transparency_on_black: {
    meaning: 'The picture has transparent parts, which are shown on black.',
    fix: 'Export the picture with an opaque background, and upload that.',
  },
  picture_held: {
    meaning: 'The audio lasts longer than the video, so a frame of the video is held.',
    fix: 'Do nothing if this is intended. Otherwise cut the audio to the length of the video, and upload that.',
  },
  silence_added: {
    meaning: 'The audio is shorter than the video or has gaps, so silence is played there.',
    fix: 'Do nothing if this is intended. Otherwise export the file with audio from its beginning to its end.',
  },
  time_restarts: {
    meaning: 'The timestamps of the file restart or jump, so its parts are played one after another.',
    fix: 'Do nothing if it plays correctly. Otherwise join the parts with a video editor, and upload that.',
  },
  gap_filled: {
    meaning: 'The file has a gap in time, which is filled with the last frame and silence.',
    fix: 'Do nothing if this is intended. Otherwise cut the gap out, and upload that.',
  },
  track_empty: {
    meaning: 'The file declares a track without media, and plays without that track.',
    fix: 'Do nothing if the track is not needed. Otherwise record or export the file with it.',
  },
  track_unplayable: {
    meaning: 'The file has a track that cannot be decoded, and plays without that track.',
    fix: 'Do nothing if the track is not needed. Otherwise export the file with H.264 video and AAC audio.',
  },
  file_shortened: {
    meaning: 'A part of the file cannot be read, and is left out.',
    fix: 'Play the file on a computer. If the part is missing there too, export or record the file again.',
  },
  part_replaced: {
    meaning: 'A part of the file cannot be decoded, and a held or black frame and silence are played there.',
    fix: 'Play the file on a computer. If the part is missing there too, export or record the file again.',
  },
  media_changes: {
    meaning:
      'The frame size, frame rate, sample rate or channels change within the file; all parts are converted to one format.',
    fix: 'Do nothing if it plays correctly. Otherwise export the file with one frame size and one audio format.',
  },
  colors_not_mapped: {
    meaning: 'The video is HDR, and this installation cannot convert it to SDR, so its colours look pale.',
    fix: 'Export the file in SDR (BT.709), or ask the administrator for an ffmpeg with the filters zscale and tonemap.',
  },
} as const;
export type UploadWarningCode = keyof typeof UPLOAD_WARNINGS;

/** Warnings that one upload may have, one of each code at most. */
export const MAX_WARNINGS = 8;
/** Eight of them fit into the 4096 bytes that a Job may report, together with what the media is. */
export const MAX_WARNING_CHARS = 300;

export const UploadWarning = Type.Object({
  code: Type.Enum(Object.keys(UPLOAD_WARNINGS) as UploadWarningCode[], { description: 'Stable code.' }),
  message: Type.String({ maxLength: MAX_WARNING_CHARS, description: 'The change, as a sentence.' }),
});
export type UploadWarning = Static<typeof UploadWarning>;

export const UploadWarnings = Type.Array(UploadWarning, {
  maxItems: MAX_WARNINGS,
  description: 'Changes made to the file so that it plays. Each code appears at most once.',
});

/** `detail`, if given, is a whole sentence that follows the code's own and names what was measured. */
export function warn(code: UploadWarningCode, detail?: string): UploadWarning {
  const { meaning } = UPLOAD_WARNINGS[code];
  return { code, message: (detail ? `${meaning} ${detail}` : meaning).slice(0, MAX_WARNING_CHARS) };
}

/** One warning of each code, in the order of the table. The last list wins, e.g. what a newer Job reported. */
export function mergeWarnings(...lists: (readonly UploadWarning[] | undefined)[]): UploadWarning[] {
  const byCode = new Map(lists.flatMap((list) => list ?? []).map((warning) => [warning.code, warning]));
  return (Object.keys(UPLOAD_WARNINGS) as UploadWarningCode[])
    .flatMap((code) => byCode.get(code) ?? [])
    .slice(0, MAX_WARNINGS);
}
