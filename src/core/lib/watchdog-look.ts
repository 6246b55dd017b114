/** Judges from two looks at a thread whether its event loop stands while it computes. Pure: no I/O, no clock. */

export interface Look {
  /** How often the loop has turned. */
  beats: number;
  /** Processor time of the thread so far, in seconds. */
  cpuSeconds: number;
}

/** Returns a function that takes each look, and returns the processor time since the loop's last turn, in seconds. */
export function createStepMeter(): (look: Look) => number {
  let turned: Look | undefined;
  return (look) => {
    if (turned?.beats !== look.beats) turned = look;
    return look.cpuSeconds - turned.cpuSeconds;
  };
}

/** Units of /proc/PID/stat: USER_HZ, which is the same on all architectures that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Reads the processor time of a thread from its `stat` (proc_pid_stat(5)), in seconds. */
export function parseCPUSeconds(stat: string): number {
  // The name before it may contain anything, parentheses too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
