/** Reads and changes what the containers of a pod request of the processors. Pure: no I/O, no clock. */

import type { Pod } from '../../kube/core.ts';

interface Container {
  name: string;
  resources?: { requests?: { cpu?: string } };
}
interface Containers {
  initContainers?: Container[];
  containers?: Container[];
}

function mapContainers({ spec }: Pod, change: (container: Container) => Container): Required<Containers> {
  const { initContainers = [], containers = [] } = spec as Containers;
  return { initContainers: initContainers.map(change), containers: containers.map(change) };
}

/** Returns the containers with nothing but their requests. */
export const keepRequests = (pod: Pod): Required<Containers> =>
  mapContainers(pod, ({ name, resources }) => {
    const cpu = resources?.requests?.cpu;
    return { name, ...(cpu !== undefined && { resources: { requests: { cpu } } }) };
  });

/** Returns the containers with these requests; undefined where they have them already. */
export function changeRequests(pod: Pod, getCpu: (container: string) => string): Required<Containers> | undefined {
  let isChanged = false;
  const changed = mapContainers(pod, (container) => {
    const cpu = getCpu(container.name);
    const { resources } = container;
    isChanged ||= resources?.requests?.cpu !== cpu;
    return { ...container, resources: { ...resources, requests: { ...resources?.requests, cpu } } };
  });
  return isChanged ? changed : undefined;
}
