/** Judges whether a Docker engine's containers can connect to servers of this machine. Pure: no I/O, no clock. */

/** The engine's facts (`GET /info`, `docker info`). */
export interface EngineInfo {
  Name: string;
  OSType: string;
  OperatingSystem: string;
  SecurityOptions: string[] | null;
  /** Of the engine's machine; engines before 20.10 do not say. */
  CgroupVersion?: '1' | '2';
}

/** Returns why the engine's containers and this machine cannot reach each other; undefined when they can. */
export function whyOutOfReach(info: EngineInfo, ourName: string): string | undefined {
  if (info.OSType !== 'linux') return 'its containers are not of Linux';
  if (info.OperatingSystem.includes('Docker Desktop')) return 'its containers are in a virtual machine';
  if (info.SecurityOptions?.some((option) => option.includes('rootless')))
    return 'it has a network of its own (rootless)';
  return info.Name === ourName ? undefined : `it is on another machine (${info.Name})`;
}
