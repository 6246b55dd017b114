import type { AccountLimits } from '../../../service/client/index.ts';
import { problemText } from '../../api/problem.ts';
import { formatAmount } from '../../lib/format.ts';
import classes from './account.module.css';
import { AccountPanel } from './accountPanel.tsx';
import { Problem } from './fields.tsx';
import { useLimits } from './queries.ts';

/** From here on a limit is close. */
const CLOSE = 0.8;

function LimitRow({ limit }: { limit: AccountLimits['limits'][number] }) {
  const { description, unit, used, allowed, full } = limit;
  const isClose = used !== null && used >= CLOSE * allowed;
  return (
    <tr>
      <th scope="row">
        {description}
        {full > allowed && <span className={classes.dim}> {formatAmount(full, unit)} with credit</span>}
      </th>
      <td data-close={isClose || undefined}>
        {used === null ? '' : `${formatAmount(used, unit)} of `}
        {formatAmount(allowed, unit)}
        {unit.startsWith('per') && ` ${unit}`}
      </td>
    </tr>
  );
}

export function LimitsPanel() {
  const { data, error } = useLimits();
  return (
    <AccountPanel title="Limits" lead={data?.howToLift ?? 'The limits of this account, and how much of each is used.'}>
      <Problem>{error && problemText(error)}</Problem>
      {data && (
        <table className={classes.limits} aria-label="Limits of this account">
          <tbody>
            {data.limits.map((limit) => (
              <LimitRow key={limit.name} limit={limit} />
            ))}
          </tbody>
        </table>
      )}
    </AccountPanel>
  );
}
