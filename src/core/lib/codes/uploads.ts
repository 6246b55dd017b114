/** Lists the codes of uploads: why one failed, and what was changed so that it plays. Pure: no I/O, no clock. */
import type { CodeText } from './code-text.ts';
import { LINK_FORBIDDEN, MEDIA_TOO_LARGE } from './shared.ts';

/** Why an import or a preparation failed. */
export const UPLOAD_ERRORS = {
  link_unreachable: {
    meaning: 'The link could not be fetched.',
    fix: 'Open the link in a private browser window: it must lead to the file itself, without signing in. Then retry the import.',
  },
  link_forbidden: LINK_FORBIDDEN,
  link_is_a_page: {
    meaning: 'The link leads to a page, not to a file.',
    fix: 'Use a direct download link that everyone can open. Or download the file, and upload it from your computer.',
  },
  link_too_slow: {
    meaning: 'The server of the link sends the file too slowly.',
    fix: 'Put the file on a faster server, or download it and upload it from your computer.',
  },
  media_too_large: MEDIA_TOO_LARGE,
  media_too_long: {
    meaning: 'The file is longer than the limit.',
    fix: 'Cut the file into parts and play them as a playlist. If the file is shorter than it claims, export it again.',
  },
  media_too_many_pixels: {
    meaning: 'The picture of the file is larger than the limit.',
    fix: 'Export the file in 4K (3840 × 2160) or less, and add that.',
  },
  media_too_complex: {
    meaning: 'The file is too complex to prepare.',
    fix: 'Export the file again as MP4 with H.264, at most 60 frames per second and stereo sound, and add that.',
  },
  media_empty: {
    meaning: 'The file is empty.',
    fix: 'Choose the file again, or record or export it again, and add that.',
  },
  media_unfinished: {
    meaning: 'The recording was never finished: its index is missing.',
    fix: 'Finish the file with the recorder or program that made it, or repair it with a tool for that (e.g. untrunc), and add the result.',
  },
  media_unreadable: {
    meaning: 'The file is not a video or audio file that can be read to its end.',
    fix: 'Play the whole file on your computer. If it breaks off or shows nothing, record it again; otherwise export it as MP4 with H.264, and add that.',
  },
  media_format_unsupported: {
    meaning: 'The format of the file is not supported.',
    fix: 'Export the file in a common format, such as MP4, MP3, JPEG or PNG, and add that.',
  },
  media_track_not_found: {
    meaning: 'The file has no such track that can be played.',
    fix: 'Choose another track of the file, or remove the choice.',
  },
  media_encrypted: {
    meaning: 'The file is encrypted (DRM), and its key is not in it.',
    fix: 'Add a copy without copy protection.',
  },
  media_colors_unsupported: {
    meaning: 'The colours of the file cannot be converted correctly.',
    fix: 'Export a video in SDR, HDR10 or HLG, or a picture in sRGB, and add that.',
  },
  media_has_no_video: {
    meaning: 'The file has no video.',
    fix: 'Add the file again as audio, or choose a file with video.',
  },
  media_has_no_audio: {
    meaning: 'The file has no audio.',
    fix: 'Add the file again as video, or choose a file with audio.',
  },
  storage_full: {
    meaning: 'The media storage is full.',
    fix: 'Delete uploads that are no longer needed, or ask the administrator for more storage, and import the file again.',
  },
  storage_taken: {
    meaning: 'The media storage belongs to another installation of loopstream.',
    fix: 'Ask the administrator to give this installation a storage of its own, or to take this one over (docs/backup.md). Then import the file again.',
  },
  prepare_timeout: {
    meaning: 'Preparing the file took longer than the time limit.',
    fix: 'Import a shorter file, or play it in a lower quality.',
  },
  prepare_failed: {
    meaning: 'Preparing the file failed.',
    fix: 'Import the file again. If that fails too, export it again as MP4 with H.264 and AAC, and add that.',
  },
} as const satisfies Record<string, CodeText>;
export type UploadErrorCode = keyof typeof UPLOAD_ERRORS;

/** Changes that an import or a rendition made so that the file plays. The fix is the way to a file that needs no warning. */
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
} as const satisfies Record<string, CodeText>;
export type UploadWarningCode = keyof typeof UPLOAD_WARNINGS;
