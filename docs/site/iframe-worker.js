// Pages that were opened as files may not start workers, and the search runs in one. Here a hidden frame takes its place.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const address = new URL(url, location.href).href;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.ready = new Promise((resolve) => {
        this.frame.addEventListener("load", () => {
          const inner = this.frame.contentWindow;
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inner.importScripts = (...addresses) =>
            addresses.reduce((before, each) => before.then(() => this.run(each)), Promise.resolve());
          this.run(address).then(() => resolve(inner));
        }, { once: true });
      });
      document.body.append(this.frame);
    }

    run(address) {
      return new Promise((resolve, reject) => {
        const inner = this.frame.contentDocument;
        const script = inner.createElement("script");
        script.src = address;
        script.onload = resolve;
        script.onerror = reject;
        inner.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
