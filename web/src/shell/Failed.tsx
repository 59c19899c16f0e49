// An error boundary: if a page fails or cannot be loaded, the rest of the portal stays.
import { Component, type ReactNode } from 'react';
import { words } from '../api/http';
import { Banner } from '../ui/Banner';
import { Button } from '../ui/Button';
import { loadPartsAgain } from '../ui/part';

export class Failed extends Component<{ children: ReactNode }, { failure: string | null }> {
  override state = { failure: null };

  static getDerivedStateFromError(error: unknown) {
    return { failure: words(error) };
  }

  private readonly again = () => {
    loadPartsAgain();
    this.setState({ failure: null });
  };

  override render() {
    if (this.state.failure === null) return this.props.children;
    return (
      <div className="page">
        <Banner look="bad">
          <span>This page could not be shown: {this.state.failure}</span>
          <Button onClick={this.again}>Try again</Button>
          <Button onClick={() => location.reload()}>Reload the portal</Button>
        </Banner>
      </div>
    );
  }
}
