/** Judges files that a person chooses, before any byte of them is sent. The server judges all others. Pure: no I/O, no clock. */

/** The parts of a browser's File that its judgement needs. */
export type FileFacts = Pick<File, 'name' | 'size' | 'type'>;

export interface RefusedFile {
  name: string;
  /** Cause and way on, as a sentence. */
  problem: string;
}

interface JudgedFiles<Chosen> {
  accepted: Chosen[];
  refused: RefusedFile[];
}

/** Systems know some of these endings by other uses: `.ts` is a translation in Linux and a transport stream here. */
const MEDIA_ENDINGS =
  /\.(3gp|aac|aiff?|avi|avif|bmp|flac|flv|gif|heic|jpe?g|m2ts|m4a|m4v|mka|mkv|mov|mp2|mp3|mp4|mpe?g|mts|mxf|oga|ogg|ogv|opus|png|tiff?|ts|vob|wav|webm|webp|wma|wmv)$/i;

/** Types of documents, archives and programs. Of a type that is not known the server finds out. */
const OTHER_TYPES =
  /^(?:text|font|message)\/|^application\/(?:gzip|json|msword|pdf|rtf|vnd\.(?:ms-|oasis|openxmlformats|rar)|x-(?:7z|bzip|gzip|msdos|msdownload|rar|sh|subrip|tar|zip)|xml|zip)/;

function findProblem({ name, size, type }: FileFacts): string | undefined {
  if (size === 0) return 'This file is empty. Choose another one.';
  const isOther = OTHER_TYPES.test(type) && !MEDIA_ENDINGS.test(name);
  return isOther ? 'This is no video, picture or sound. Choose a media file.' : undefined;
}

/** Splits files into those that can be sent and those that cannot be media. */
export function judgeFiles<Chosen extends FileFacts>(files: readonly Chosen[]): JudgedFiles<Chosen> {
  const judged = files.map((file) => ({ file, problem: findProblem(file) }));
  return {
    accepted: judged.flatMap(({ file, problem }) => (problem === undefined ? [file] : [])),
    refused: judged.flatMap(({ file: { name }, problem }) => (problem === undefined ? [] : [{ name, problem }])),
  };
}

/** Systems keep such files in folders for themselves. */
const isHidden = (name: string): boolean => name.startsWith('.') || /^(?:thumbs\.db|desktop\.ini)$/i.test(name);

/** Picks the media out of a folder, by name as people count: `2.mp4` before `10.mp4`. */
export function pickMedia<Chosen extends FileFacts>(files: readonly Chosen[]): Chosen[] {
  const { accepted } = judgeFiles(files.filter(({ name }) => !isHidden(name)));
  return accepted.sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}
