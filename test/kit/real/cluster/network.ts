/**
 * Builds the cluster's network: a bridge, and for each node a network namespace with a cable to it. The host routes to Services and pods,
 * so that a test is a client like any other. All iptables rules are in the nodes' namespaces and go away with them.
 */
import { ConfigError } from '../../../../src/core/settings/settings.ts';
import { runOrThrow, tryRun } from './command.ts';
import { type ClusterLayout, METADATA_ADDRESS, RANGE_PREFIX, SERVICE_CIDR } from './layout.ts';

/** Throws a ConfigError when the machine uses these addresses for something else. */
export async function makeNetwork(layout: ClusterLayout): Promise<void> {
  const { bridge, gateway, internet, nodes } = layout;
  const routes = await runOrThrow('ip', ['-4', 'route', 'show', 'table', 'all']);
  const [serviceNet = ''] = SERVICE_CIDR.split('/');
  const taken = routes.split('\n').find((line) => line.includes(` ${RANGE_PREFIX}`) || line.startsWith(serviceNet));
  if (taken) throw new ConfigError(`The test cluster needs ${layout.range} and ${SERVICE_CIDR}; in use: ${taken}`);
  await runOrThrow('ip', ['link', 'add', bridge, 'type', 'bridge']);
  await runOrThrow('ip', ['addr', 'add', `${gateway}/24`, 'dev', bridge]);
  await runOrThrow('ip', ['addr', 'add', `${internet}/32`, 'dev', bridge]);
  await runOrThrow('ip', ['link', 'set', bridge, 'up']);
  for (const { id, address } of nodes) {
    const inside = ['-n', id];
    await runOrThrow('ip', ['netns', 'add', id]);
    await runOrThrow('ip', ['link', 'add', id, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', id]);
    await runOrThrow('ip', ['link', 'set', id, 'master', bridge, 'up']);
    await runOrThrow('ip', [...inside, 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
    for (const device of ['lo', 'eth0']) await runOrThrow('ip', [...inside, 'link', 'set', device, 'up']);
    await runOrThrow('ip', [...inside, 'addr', 'add', `${METADATA_ADDRESS}/32`, 'dev', 'lo']);
    await runOrThrow('ip', [...inside, 'route', 'add', 'default', 'via', gateway]);
    await runOrThrow('ip', ['netns', 'exec', id, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']);
    for (const other of nodes.filter((node) => node.id !== id)) {
      await runOrThrow('ip', [...inside, 'route', 'add', other.podCidr, 'via', other.address]);
    }
  }
  for (const { podCidr, address } of nodes) await runOrThrow('ip', ['route', 'add', podCidr, 'via', address]);
  // Any node serves as the gateway: each has the rules of kube-proxy.
  const [first] = nodes;
  if (first) await runOrThrow('ip', ['route', 'add', SERVICE_CIDR, 'via', first.address]);
}

/** Safe to repeat: missing parts are no error. The routes go with the bridge. */
export async function removeNetwork({ bridge, nodes }: ClusterLayout): Promise<void> {
  for (const { id } of nodes) {
    await tryRun('ip', ['netns', 'delete', id]);
    await tryRun('ip', ['link', 'delete', id]);
  }
  await tryRun('ip', ['link', 'delete', bridge]);
}
