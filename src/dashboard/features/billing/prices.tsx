/** Shows prices beside the choices that they belong to; nothing where streams cost nothing. */
import { useQuery } from '@tanstack/react-query';
import type { Prices } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { formatCredits, formatDay, formatProfile } from '../../lib/format.ts';
import page from '../../ui/page.module.css';
import { Panel } from '../../ui/panel.tsx';
import classes from './billing.module.css';
import { describePrice, findPrice, formatCost, formatMonthly, groupPrices, type PricedProfile } from './priceText.ts';

/** The server announces a new price before it holds, so there is no hurry. */
const STALE_MS = 600_000;

function usePriceQuery() {
  const { billing } = useApi().calls;
  return useQuery({
    queryKey: ['prices'],
    queryFn: ({ signal }) => billing.prices({ signal }),
    staleTime: STALE_MS,
  });
}

/** Undefined until they are known, and where billing is off. */
export const usePrices = (): Prices | undefined => usePriceQuery().data;

/** `1080p · 30 fps · $0.03/h, about $21.60 a month`. */
export function PriceLine({ quality, framerate }: PricedProfile) {
  const prices = usePrices();
  const price = prices && findPrice(prices, { quality, framerate });
  if (!price) return null;
  return (
    <p className={page.dim} role="status" data-testid="price">
      {formatProfile(quality, framerate)} · {describePrice(price, prices)}
    </p>
  );
}

/** The price of a stream, and with `seconds` on air the cost of this session so far. */
export function StreamCost({ quality, framerate, seconds }: PricedProfile & { seconds: number | null | undefined }) {
  const { data: prices, isPending } = usePriceQuery();
  const price = prices && findPrice(prices, { quality, framerate });
  // An empty line keeps the place, so that the page stands still.
  if (!price) return isPending ? <p className={page.dim}>&nbsp;</p> : null;
  return (
    <p className={page.dim} data-testid="price">
      {describePrice(price, prices)}
      {typeof seconds === 'number' &&
        price.creditsPerHour !== '0' &&
        ` · ${formatCost(seconds, price, prices)} in this session`}
    </p>
  );
}

/** `24–30 fps` of rates in order, `60 fps` of one. */
const formatRates = (rates: readonly string[]): string =>
  `${[...new Set([rates[0], rates.at(-1)])].map((rate = '') => rate.replace('f_', '')).join('–')} fps`;

/** All prices, on the page about money. */
export function PricePanel() {
  const prices = usePrices();
  if (!prices) return null;
  return (
    <Panel title="Prices">
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">Picture</th>
            <th scope="col">An hour on air</th>
            <th scope="col">30 days on air</th>
          </tr>
        </thead>
        <tbody>
          {groupPrices(prices).map(({ quality, framerates, creditsPerHour, next }) => (
            <tr key={`${quality} ${framerates[0]}`}>
              <th scope="row">
                {quality.replace('q_', '')} · {formatRates(framerates)}
              </th>
              <td>
                {formatCredits(creditsPerHour, prices, { exactly: true })}
                {next &&
                  `, ${formatCredits(next.creditsPerHour, prices, { exactly: true })} from ${formatDay(next.from)}`}
              </td>
              <td>{formatMonthly(creditsPerHour, prices)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={page.dim}>
        Only time on air costs credit. Preparing and storing media is free, and so are further destinations of a stream.
      </p>
    </Panel>
  );
}
