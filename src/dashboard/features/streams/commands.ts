/** Commands about one stream, with its id and without anybody's key. Pure: no I/O, no clock. */
import type { Stream } from '../../api/api.ts';

type About = Pick<Stream, 'id' | 'status'>;

const OFF_AIR: readonly string[] = ['idle', 'stopped', 'ended', 'failed'];

export const restSnippet = (origin: string, { id, status }: About): string => `API=${origin}/v1
KEY=lsk_...   # your API key

# Current state
curl -sS -H "X-API-Key: $KEY" "$API/streams/${id}"

# ${OFF_AIR.includes(status) ? 'The issues that keep it off air, and their fixes' : 'Its live statistics'}
curl -sS -H "X-API-Key: $KEY" "$API/streams/${id}/${OFF_AIR.includes(status) ? 'readiness' : 'live-stats'}"

# ${OFF_AIR.includes(status) ? 'Put it on air, and wait until it is' : 'Take it off air, and wait until it is'}
curl -sS -X POST -H "X-API-Key: $KEY" "$API/streams/${id}/${OFF_AIR.includes(status) ? 'start' : 'stop'}?wait=30"`;

export const kubectlSnippet = ({ id, status }: About): string => `# Current state and recent events
kubectl get loopstream ${id}
kubectl describe loopstream ${id}

# ${OFF_AIR.includes(status) ? 'Put it on air' : 'Take it off air'}
kubectl scale loopstream ${id} --replicas=${OFF_AIR.includes(status) ? 1 : 0}

# Watch it
kubectl get loopstream ${id} --watch`;
