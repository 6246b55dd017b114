import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/context.tsx';
import { Name } from '../../ui/name.tsx';

/** A stream may be gone, and its cost is still told. */
export function StreamName({ id }: { id: string }) {
  const { streams } = useApi().calls;
  const { data, error } = useQuery({
    queryKey: ['streams', 'name', id],
    queryFn: ({ signal }) => streams.get(id, { signal }),
    retry: false,
  });
  if (error) return <>{id} (deleted)</>;
  return (
    <Link to="/streams/$id" params={{ id }}>
      <Name>{data?.name ?? id}</Name>
    </Link>
  );
}
