/**
 * Builds the cluster's network: a bridge, and for each node a network namespace with a cable to it. The host routes to Services and pods,
 * so that a test is a client like any other. All iptables rules are in the nodes' namespaces and go away with them.
 */
import { ConfigError } from '../../../../src/settings/settings.ts';
import { may, must } from './command.ts';
import { type ClusterLayout, METADATA_ADDRESS, RANGE_PREFIX, SERVICE_CIDR } from './layout.ts';

/** Throws a ConfigError when the machine uses these addresses for something else. */
export async function makeNetwork(layout: ClusterLayout): Promise<void> {
  const { bridge, gateway, internet, nodes } = layout;
  const routes = await must('ip', ['-4', 'route', 'show', 'table', 'all']);
  const [serviceNet = ''] = SERVICE_CIDR.split('/');
  const taken = routes.split('\n').find((line) => line.includes(` ${RANGE_PREFIX}`) || line.startsWith(serviceNet));
  if (taken) throw new ConfigError(`The test cluster needs ${layout.range} and ${SERVICE_CIDR}; in use: ${taken}`);
  await must('ip', ['link', 'add', bridge, 'type', 'bridge']);
  await must('ip', ['addr', 'add', `${gateway}/24`, 'dev', bridge]);
  await must('ip', ['addr', 'add', `${internet}/32`, 'dev', bridge]);
  await must('ip', ['link', 'set', bridge, 'up']);
  for (const { id, address } of nodes) {
    const inside = ['-n', id];
    await must('ip', ['netns', 'add', id]);
    await must('ip', ['link', 'add', id, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', id]);
    await must('ip', ['link', 'set', id, 'master', bridge, 'up']);
    await must('ip', [...inside, 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
    for (const device of ['lo', 'eth0']) await must('ip', [...inside, 'link', 'set', device, 'up']);
    await must('ip', [...inside, 'addr', 'add', `${METADATA_ADDRESS}/32`, 'dev', 'lo']);
    await must('ip', [...inside, 'route', 'add', 'default', 'via', gateway]);
    await must('ip', ['netns', 'exec', id, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']);
    for (const other of nodes.filter((node) => node.id !== id)) {
      await must('ip', [...inside, 'route', 'add', other.podCidr, 'via', other.address]);
    }
  }
  for (const { podCidr, address } of nodes) await must('ip', ['route', 'add', podCidr, 'via', address]);
  // Any node serves as the gateway: each has the rules of kube-proxy.
  const [first] = nodes;
  if (first) await must('ip', ['route', 'add', SERVICE_CIDR, 'via', first.address]);
}

/** Safe to repeat: missing parts are no error. The routes go with the bridge. */
export async function removeNetwork({ bridge, nodes }: ClusterLayout): Promise<void> {
  for (const { id } of nodes) {
    await may('ip', ['netns', 'delete', id]);
    await may('ip', ['link', 'delete', id]);
  }
  await may('ip', ['link', 'delete', bridge]);
}
