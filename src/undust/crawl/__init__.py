"""Rules and signatures at work while a crawler runs: stores, `Seen` for any crawler, the add-on for Scrapy."""
