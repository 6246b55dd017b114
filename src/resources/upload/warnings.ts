/**
 * Lists the warnings of an upload: an import or a rendition changed something of the file, and the upload plays all the
 * same. One table of codes and sentences serves every API. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

/** Code → the sentence for people, and the way to a file that needs no warning. */
export const UPLOAD_WARNINGS = {
  still_picture: {
    meaning: 'The file is a still picture, and is played as a clip that loops.',
    fix: 'Nothing, if that is wanted. To show it for longer or with its own sound, upload a video of it.',
  },
  transparency_on_black: {
    meaning: 'The pictures have transparent parts, which are shown on black.',
    fix: 'Export the pictures on the background that is wanted, and upload that.',
  },
  picture_held: {
    meaning: 'The sound lasts longer than the pictures, so a picture is held meanwhile.',
    fix: 'Nothing, if that is wanted. Otherwise cut the sound where the pictures end, and upload that.',
  },
  silence_added: {
    meaning: 'The sound is shorter than the pictures or has gaps, so silence is played there.',
    fix: 'Nothing, if that is wanted. Otherwise export the file with sound from its beginning to its end.',
  },
  time_restarts: {
    meaning: 'The time of the file begins anew or jumps in the middle; its parts are played one after another.',
    fix: 'Nothing, if it plays as it should. Otherwise join the parts with a video editor, and upload that.',
  },
  gap_filled: {
    meaning: 'The file has a gap in time, over which its last picture is held and silence is played.',
    fix: 'Nothing, if that is wanted. Otherwise cut the gap out, and upload that.',
  },
  track_empty: {
    meaning: 'The file names a track that has nothing in it, and is played without that track.',
    fix: 'Nothing, if the track is not missed. Otherwise record or export the file with it.',
  },
  file_shortened: {
    meaning: 'A part of the file cannot be read, and is left out.',
    fix: 'Play the file on a computer; if that part is missing there too, export or record it anew.',
  },
  media_changes: {
    meaning:
      'The size, the frame rate, the sample rate or the channels change in the middle; one form is made of all parts.',
    fix: 'Nothing, if it plays as it should. Otherwise export the file in one size and with one kind of sound.',
  },
  colors_not_mapped: {
    meaning: 'The pictures are in HDR, and this installation cannot turn them into SDR, so their colours look pale.',
    fix: 'Export the file in SDR (BT.709), or have an ffmpeg with the filters zscale and tonemap installed.',
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
