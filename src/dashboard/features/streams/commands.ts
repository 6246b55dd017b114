/** Commands about one stream, with its id and without anybody's key. Pure: no I/O, no clock. */
import type { Stream } from '../../api/api.ts';

type About = Pick<Stream, 'id' | 'status'>;

const OFF_AIR: readonly string[] = ['idle', 'stopped', 'ended', 'failed'];

export const restSnippet = (origin: string, { id, status }: About): string => `API=${origin}/v1
KEY=lsk_...   # your API key

# As it is now
curl -sS -H "X-API-Key: $KEY" "$API/streams/${id}"

# ${OFF_AIR.includes(status) ? 'What keeps it off air, and what to do about it' : 'Its numbers while it is live'}
curl -sS -H "X-API-Key: $KEY" "$API/streams/${id}/${OFF_AIR.includes(status) ? 'readiness' : 'live-stats'}"

# ${OFF_AIR.includes(status) ? 'Put it on air, and wait until it is' : 'Take it off air, and wait until it is'}
curl -sS -X POST -H "X-API-Key: $KEY" "$API/streams/${id}/${OFF_AIR.includes(status) ? 'start' : 'stop'}?wait=30"`;

export const kubectlSnippet = ({ id, status }: About): string => `# As it is now, and what happened to it
kubectl get loopstream ${id}
kubectl describe loopstream ${id}

# ${OFF_AIR.includes(status) ? 'Put it on air' : 'Take it off air'}
kubectl scale loopstream ${id} --replicas=${OFF_AIR.includes(status) ? 1 : 0}

# Follow it
kubectl get loopstream ${id} --watch`;
