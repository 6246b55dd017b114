/** Describes one packet of a source, as its container does. Pure: no I/O, no clock. */

/** Numbers are NaN where the container does not state them. Times are in seconds, as stored. */
export interface Packet {
  /** ffprobe's number of the track. */
  index: number;
  pts: number;
  dts: number;
  duration: number;
  sizeBytes: number;
  /** Position in the file. */
  byte: number;
  isKey: boolean;
  /** True for a packet that is only decoded. */
  isHidden: boolean;
}
