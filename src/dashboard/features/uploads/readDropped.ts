/** Reads what a person drops: files, and the media inside folders. */
import { judgeFiles, pickMedia, type RefusedFile } from './judgeFiles.ts';

interface Dropped {
  accepted: File[];
  refused: RefusedFile[];
}

/** More files than this are not meant to be sent at once. */
const MOST_FILES = 500;

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;

const readFile = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** A browser returns the entries of a folder in parts, and an empty part at the end. */
async function readEntries(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0 || found.length > MOST_FILES) return found;
    found.push(...part);
  }
}

async function readFolder(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const files: File[] = [];
  for (const entry of await readEntries(folder)) {
    if (files.length >= MOST_FILES) break;
    if (isFile(entry)) files.push(await readFile(entry));
    if (isFolder(entry)) files.push(...(await readFolder(entry)));
  }
  return files.slice(0, MOST_FILES);
}

async function readFolderMedia(folder: FileSystemDirectoryEntry): Promise<Dropped> {
  try {
    const accepted = pickMedia(await readFolder(folder));
    if (accepted.length > 0) return { accepted, refused: [] };
    return { accepted, refused: [{ name: folder.name, problem: 'The folder has no video, picture or sound.' }] };
  } catch {
    const problem = 'The folder could not be read. Open it, and drop the files in it.';
    return { accepted: [], refused: [{ name: folder.name, problem }] };
  }
}

/** A folder gives its media; whatever else is in it is left out. The browser forgets the entries when the event is over. */
export async function readDropped({ items, files }: DataTransfer): Promise<Dropped> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry?.() ?? []);
  const folders = entries.filter(isFolder);
  if (folders.length === 0) return judgeFiles([...files]);
  // A folder is among the files as well, as if it were one.
  const names = new Set(folders.map(({ name }) => name));
  const loose = judgeFiles([...files].filter(({ name }) => !names.has(name)));
  const inside = await Promise.all(folders.map(readFolderMedia));
  return {
    accepted: [loose, ...inside].flatMap(({ accepted }) => accepted),
    refused: [loose, ...inside].flatMap(({ refused }) => refused),
  };
}
