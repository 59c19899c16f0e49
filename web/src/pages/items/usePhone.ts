// Whether the window is as narrow as a telephone: the bar above the list has a menu then, and the grid fewer
// columns. The style sheets of this folder have the same width.
import { useMedia } from '../../ui/useMedia';

export function usePhone(): boolean {
  return useMedia('(max-width: 600px)');
}
