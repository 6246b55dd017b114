/**
 * Finds the bytes of a file that name the codec of one track. With other bytes in their place, ffprobe lists the track with an unknown
 * codec, and opens no decoder for it. The numbers of the tracks stay as ffmpeg counts them.
 */
import { open } from 'node:fs/promises';
import type { Patch } from '../tools/untrusted-input.ts';
import { BOX_HEADER_BYTES, readBox } from './boxes.ts';
import { EBML, ELEMENT_HEADER_BYTES, readElement, SEGMENT } from './matroska.ts';
import { readAt } from './read-at.ts';

/** A level with more parts is not looked through. */
const MAX_PARTS = 1000;
/** Matroska (RFC 9559 5.1.4): the list of tracks, and in each its kind and its codec. */
const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
/** Pictures, sound, subtitles and metadata. ffmpeg counts no others. */
const COUNTED_TYPES = new Set([1, 2, 17, 33]);
/** AVI's lists have a type behind their header. */
const LIST_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** The place of the codec in a stream's format: biCompression of pictures. For sound, wFormatTag begins it. */
const COMPRESSION_AT = 16;

type Read = (at: number, length: number) => Promise<Buffer>;

/** A piece of a file. */
interface Part {
  name: string | number;
  at: number;
  /** Where its content begins, and ends. */
  start: number;
  end: number;
}

/** Reads the header of a part; undefined where none begins there. */
type ReadPart = (read: Read, at: number, limit: number) => Promise<Part | undefined>;

/** Resolves with undefined for another container, or one that is not understood. Rejects with an error of the file. */
export async function findCodecName(path: string, index: number): Promise<Patch | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const read: Read = (at, length) => readAt(file, at, length);
    const whole: Part = { name: '', at: 0, start: 0, end: size };
    const head = await read(0, LIST_HEADER_BYTES);
    if (head.toString('latin1', 0, 4) === 'RIFF') return await findInAvi(read, whole, index);
    return await (readElement(head)?.id === EBML ? findInMatroska : findInMovie)(read, whole, index);
  } finally {
    await file.close();
  }
}

/** Lists the parts in a part, as far as they are whole. */
async function listParts(read: Read, { start, end }: Part, readPart: ReadPart): Promise<Part[]> {
  const parts: Part[] = [];
  for (let at = start; at < end && parts.length < MAX_PARTS; ) {
    const part = await readPart(read, at, end);
    if (!part || part.end > end) break;
    parts.push(part);
    at = part.end;
  }
  return parts;
}

/** Goes down by the names of parts; the number says which of them. */
async function goDown(read: Read, from: Part, readPart: ReadPart, steps: readonly [string | number, number?][]) {
  let part: Part | undefined = from;
  for (const [name, number = 0] of steps) {
    const parts: Part[] = part ? await listParts(read, part, readPart) : [];
    part = parts.filter((one) => one.name === name)[number];
  }
  return part;
}

const readBoxPart: ReadPart = async (read, at, limit) => {
  const box = readBox(await read(at, BOX_HEADER_BYTES));
  return box && { name: box.type, at, start: at + box.headerBytes, end: box.sizeBytes ? at + box.sizeBytes : limit };
};

/** A part of its size replaces the type of the box that describes the codec. ffmpeg skips boxes of unknown types. */
async function findInMovie(read: Read, whole: Part, index: number): Promise<Patch | undefined> {
  const stsd = await goDown(read, whole, readBoxPart, [
    ['moov'],
    ['trak', index],
    ['mdia'],
    ['minf'],
    ['stbl'],
    ['stsd'],
  ]);
  return stsd && { at: stsd.at + 4, length: 4, from: stsd.at + 1 };
}

const readElementPart: ReadPart = async (read, at, limit) => {
  const element = readElement(await read(at, ELEMENT_HEADER_BYTES));
  if (!element || (element.sizeBytes === undefined && element.id !== SEGMENT)) return undefined;
  const start = at + element.headerBytes;
  return { name: element.id, at, start, end: element.sizeBytes === undefined ? limit : start + element.sizeBytes };
};

/** The first letter stays, since it must say the kind of the track. No codec's name begins with it twice. */
async function findInMatroska(read: Read, whole: Part, index: number): Promise<Patch | undefined> {
  const tracks = await goDown(read, whole, readElementPart, [[SEGMENT], [TRACKS]]);
  let number = 0;
  for (const entry of tracks ? await listParts(read, tracks, readElementPart) : []) {
    if (entry.name !== TRACK_ENTRY) continue;
    const fields = await listParts(read, entry, readElementPart);
    const [type, codec] = [TRACK_TYPE, CODEC_ID].map((id) => fields.find(({ name }) => name === id));
    if (!type || !codec || !COUNTED_TYPES.has((await read(type.end - 1, 1))[0] ?? 0)) continue;
    if (number++ === index) return { at: codec.start + 1, length: 1, from: codec.start };
  }
  return undefined;
}

const readChunk: ReadPart = async (read, at) => {
  const header = await read(at, LIST_HEADER_BYTES);
  if (header.length < CHUNK_HEADER_BYTES) return undefined;
  const isList = ['RIFF', 'LIST'].includes(header.toString('latin1', 0, 4));
  const sizeBytes = header.readUInt32LE(4);
  return {
    name: header.toString('latin1', isList ? 8 : 0, isList ? 12 : 4),
    at,
    start: at + (isList ? LIST_HEADER_BYTES : CHUNK_HEADER_BYTES),
    // Chunks begin at even places.
    end: at + CHUNK_HEADER_BYTES + sizeBytes + (sizeBytes % 2),
  };
};

/** The type of the chunk replaces the number of the codec. */
async function findInAvi(read: Read, whole: Part, index: number): Promise<Patch | undefined> {
  const stream = await goDown(read, whole, readChunk, [['AVI '], ['hdrl'], ['strl', index]]);
  const chunks = stream ? await listParts(read, stream, readChunk) : [];
  const [header, format] = ['strh', 'strf'].map((type) => chunks.find(({ name }) => name === type));
  if (!header || !format) return undefined;
  const isSound = (await read(header.start, 4)).toString('latin1') === 'auds';
  if (isSound) return { at: format.start, length: 2, from: format.at };
  return { at: format.start + COMPRESSION_AT, length: 4, from: format.at };
}
