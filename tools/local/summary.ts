/** Writes the summary for the user when everything is up. Pure: no I/O, no clock. */
import type { LocalFacts } from './state.ts';

/** The closing lines; `watch` is an address that ffplay can open, if the stream goes to the local receiver. */
export function summary(facts: LocalFacts, onAir: { watch: string | undefined; stateDir: string }): string {
  const { apiUrl } = facts;
  const rows: [string, string | null | undefined][] = [
    ['Dashboard', facts.pageUrl],
    ['REST', apiUrl && `${apiUrl}  (documentation: ${new URL('/docs', apiUrl).href})`],
    ['GraphQL', facts.graphqlUrl],
    // A client that has no field for an address has one for a command, whose input and output it talks to.
    ['Agents', facts.mcpUrl && `${facts.mcpUrl}  (as a command: npx -y mcp-remote ${facts.mcpUrl})`],
    ['Sign in', facts.email && `${facts.email}  with the password ${facts.password ?? 'that you chose'}`],
    ['API key', facts.apiKey],
    [
      'Credit',
      facts.databaseUrl && 'make run ARGS="grant you@example.com"  (new accounts get some when they are confirmed)',
    ],
    ['Mailbox', facts.mailUrl],
    ['RTMP receiver', facts.rtmpUrl],
    ['Local chain', facts.chainUrl && `${facts.chainUrl}  (pay a deposit: make run ARGS="pay 0x… 0.01")`],
    ['kubectl', `export KUBECONFIG=${facts.kubeconfig}`],
    ['Watch', onAir.watch && `ffplay ${onAir.watch}`],
    ['Stop', 'Ctrl-C, or: make stop'],
  ];
  const table = rows.flatMap(([name, value]) => (value ? [`  ${name.padEnd(14)} ${value}`] : [])).join('\n');
  const title = facts.demoStreamId ? `On air: ${facts.demoStreamId}` : 'Ready.';
  return `\n${title}\n\n${table}\n\n  This summary as JSON: ${onAir.stateDir}/local.json\n`;
}
