/**
 * Declares the warnings of an upload: an import or a rendition changed something of the file, and the upload plays all the
 * same. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { UPLOAD_WARNINGS, type UploadWarningCode } from '../../lib/codes/uploads.ts';

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
