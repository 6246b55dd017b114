/**
 * Puts the parameter sets of H.264 in front of a keyframe. Where the header of a stream changes, a receiver's decoder takes
 * the new one from its tag, but parsers, of ffmpeg and of segmenters, know the first header alone, and would read the
 * slices of the next item by it. Pure: no I/O, no clock.
 */

/** FLV's bytes in front of the configuration or the NAL units (E.4.3.1). */
const FLV_BYTES = 5;
const LENGTH_BYTES = 4;
/** ITU-T H.264 table 7-1. */
const NAL_SPS = 7;
const NAL_DELIMITER = 9;

/**
 * Returns the parameter sets of an AVC sequence header, each behind its length in four bytes; empty where the header is not
 * one (ISO/IEC 14496-15 5.3.3.1).
 */
export function readParameterSets(header: Buffer): Buffer {
  const sets: Buffer[] = [];
  let at = FLV_BYTES + 6;
  const take = (count: number): boolean => {
    for (let set = 0; set < count; set++) {
      const end = at + 2 + (at + 2 <= header.length ? header.readUInt16BE(at) : header.length);
      if (end > header.length) return false;
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(end - at - 2);
      sets.push(length, header.subarray(at + 2, end));
      at = end;
    }
    return true;
  };
  const isWhole = take((header[at - 1] ?? 0) & 0x1f) && at < header.length && take(header[at++] ?? 0);
  return isWhole ? Buffer.concat(sets) : Buffer.alloc(0);
}

/** Returns the body of a keyframe with these parameter sets, unless it has some; an access unit delimiter stays in front. */
export function withParameterSets(body: Buffer, sets: Buffer): Buffer {
  let at = FLV_BYTES;
  let type = readNalType(body, at);
  if (type === NAL_DELIMITER) {
    at += LENGTH_BYTES + body.readUInt32BE(at);
    type = readNalType(body, at);
  }
  if (type === undefined || type === NAL_SPS) return body;
  return Buffer.concat([body.subarray(0, at), sets, body.subarray(at)]);
}

function readNalType(body: Buffer, at: number): number | undefined {
  const first = body[at + LENGTH_BYTES];
  return first === undefined ? undefined : first & 0x1f;
}
