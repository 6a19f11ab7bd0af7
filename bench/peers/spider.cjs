// spider through its node binding, as its documentation shows it: each page is given to a callback, nothing is kept.
const { Website } = require("@spider-rs/spider-rs");

const site = new Website(process.argv[2]).withRespectRobotsTxt(true).withSubdomains(false).build();
let pages = 0;
site.crawl((error) => { pages += error ? 0 : 1; }).then(() => {
  console.log(pages);
  process.exit(0); // its threads would keep the process
});
