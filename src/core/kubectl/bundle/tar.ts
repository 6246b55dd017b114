/** Writes a tar archive (POSIX.1-1988, ustar). Pure: no I/O, no clock. */

const BLOCK = 512;

export interface ArchiveFile {
  /** Relative, with slashes; its last part is at most 100 bytes long, and what precedes it 155. */
  path: string;
  content: string;
}

function header(path: string, size: number, time: Date): Buffer {
  const slash = path.lastIndexOf('/');
  const [prefix, name] = Buffer.byteLength(path) <= 100 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)];
  if (Buffer.byteLength(name) > 100 || Buffer.byteLength(prefix) > 155)
    throw new RangeError(`The path ${path} is too long for an archive.`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(name, 0);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(Math.floor(time.getTime() / 1000), 11), 136);
  // The checksum is counted with spaces in its own place.
  block.fill(' ', 148, 156);
  block.write('0', 156);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** Two empty blocks end an archive. Throws RangeError for a path that is too long. */
export function buildTar(files: readonly ArchiveFile[], time: Date): Buffer {
  const parts = files.flatMap(({ path, content }) => {
    const body = Buffer.from(content);
    return [header(path, body.length, time), body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}
