/** Reads and changes what the containers of a pod request of the processors. Pure: no I/O, no clock. */

import type { Container, Pod, PodSpec } from '../../kube/core.ts';

type Containers = Required<Pick<PodSpec, 'initContainers' | 'containers'>>;

function mapContainers({ spec }: Pod, change: (container: Container) => Container): Containers {
  const { initContainers = [], containers = [] } = spec;
  return { initContainers: initContainers.map(change), containers: containers.map(change) };
}

/** Returns the containers with nothing but their requests. */
export const keepRequests = (pod: Pod): Containers =>
  mapContainers(pod, ({ name, resources }) => {
    const cpu = resources?.requests?.cpu;
    return { name, ...(cpu !== undefined && { resources: { requests: { cpu } } }) };
  });

/** Returns the containers with these requests; undefined where they have them already. */
export function changeRequests(pod: Pod, getCpu: (container: string) => string): Containers | undefined {
  let isChanged = false;
  const changed = mapContainers(pod, (container) => {
    const cpu = getCpu(container.name);
    const { resources } = container;
    isChanged ||= resources?.requests?.cpu !== cpu;
    return { ...container, resources: { ...resources, requests: { ...resources?.requests, cpu } } };
  });
  return isChanged ? changed : undefined;
}
