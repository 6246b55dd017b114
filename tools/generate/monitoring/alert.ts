/** Declares the parts of an alert: its rule, and the page that is opened when it fires. Pure: no I/O, no clock. */
import { STREAM_DIR } from '../../../src/core/operator/stream/pod.ts';
import { VIEW_TOKEN_KEY } from '../../../src/core/resources/common/names.ts';

export interface Alert {
  /** Begins with LoopStream, since others' alerts are in the same Alertmanager. */
  name: string;
  expr: string;
  /** How long it must be so; at once when left out. */
  for?: string;
  /** critical: somebody gets up for it. warning: today. info: when there is time. */
  severity: 'critical' | 'warning' | 'info';
  /** One line; labels as Prometheus' templates have them. */
  summary: string;
  description: string;
  /** Whether a message has the cause that the stream's conditions name. */
  hasCause?: true;
  /** For the page: the meaning of the alert. */
  means: string;
  /** The effect that viewers or users of the API notice. */
  viewers: string;
  /** Commands to look with first, and what to look for. */
  looks: [command: string, lookFor: string][];
  mends: string[];
}

export interface Group {
  name: string;
  alerts: Alert[];
}

/** Only series of targets that are our operator: names of controller-runtime and client-go are others' too. */
export const ofOperator = (series: string): string =>
  `${series} and on (job, instance) leader_election_master_status{name="loopstream-operator"}`;
/** Only series of targets that are our API server. */
export const ofApi = (series: string): string =>
  `${series} and on (job, instance) db_pool_max_connections{pool="loopstream"}`;

export const OF_STREAM = 'by (namespace, loopstream)';
export const STREAM = '{{ $labels.namespace }}/{{ $labels.loopstream }}';

/** Commands that most pages begin with. `NS` and `STREAM` are set once, at the top of each page. */
export const DESCRIBE = 'kubectl describe loopstream -n "$NS" "$STREAM"';
export const STREAM_POD = 'kubectl get pods -n "$NS" -l loopstream.dev/stream="$STREAM" -o wide';
export const STREAM_LOG = 'kubectl logs -n "$NS" -l loopstream.dev/stream="$STREAM" --tail=100';
/** From inside, with the pod's own token: others are let in neither by the NetworkPolicy nor by the pod. */
export const STREAM_STATS =
  'kubectl exec -n "$NS" "$(kubectl get pods -n "$NS" -l loopstream.dev/stream="$STREAM" -o name | head -n 1)" -- ' +
  `node -e "const token = require('fs').readFileSync('${STREAM_DIR}/${VIEW_TOKEN_KEY}', 'utf8'); ` +
  "const headers = { authorization: 'Bearer ' + token }; " +
  "fetch('http://' + process.env.LOOPSTREAM_HOST + ':9400/stats', { headers }).then((answer) => answer.text()).then(console.log)\"";
export const PLATFORM_LOG =
  'kubectl logs -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=platform --tail=200 --prefix';
export const OPERATOR_LOG =
  'kubectl logs -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=operator --tail=200 --prefix';
export const OPERATOR_PODS =
  'kubectl get pods -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=operator -o wide';
export const API_LOG =
  'kubectl logs -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=api --tail=200 --prefix';
export const BILLING_LOG =
  'kubectl logs -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=billing --tail=200 --prefix';
export const API_PODS =
  'kubectl get pods -n "$RELEASE_NS" -l app.kubernetes.io/name=loopstream,app.kubernetes.io/component=api -o wide';
export const API_HEALTH = 'kubectl get --raw "/readyz?verbose"';
