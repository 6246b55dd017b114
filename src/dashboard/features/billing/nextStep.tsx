/** Says what the owner of an account can do about its credit: pay, or ask whom. */
import { Link } from '@tanstack/react-router';
import type { Billing } from '../../../service/client/index.ts';
import { Support } from '../account/support.tsx';

/** Follows the outlook of the balance, as a sentence or a link of its own. */
export function NextStep({
  billing: { state, paymentMethods },
}: {
  billing: Pick<Billing, 'state' | 'paymentMethods'>;
}) {
  if (state === 'suspended')
    return (
      <>
        Ask <Support /> for the reason.
      </>
    );
  if (paymentMethods.length > 0) return <Link to="/billing">Add credit</Link>;
  return (
    <>
      Ask <Support /> for credit.
    </>
  );
}
